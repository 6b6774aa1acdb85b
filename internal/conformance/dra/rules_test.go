package dra

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of claims at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2, products: []string{"NVIDIA H100 80GB HBM3"}}).Judge, healthy().observations(t), []checktest.Rule{
		checktest.When("a GPU has the model of the profile", checktest.Set(kindSlices, `[0].devices[0].product`, "NVIDIA L4")).Fails("gpu-01", `is a "NVIDIA L4"`),
		checktest.When("a GPU without a model is unknown", checktest.Set(kindSlices, `[0].devices[0].product`, checktest.LeftOut)).Unobserved("gpu-01", "has no attribute productName"),
		checktest.When("a GPU without a UUID is unknown", checktest.Set(kindSlices, `[1].devices[0].uuid`, checktest.LeftOut)).Unobserved("gpu-02", "has no attribute uuid"),
		checktest.When("a GPU that is offered twice is one GPU", checktest.Set(kindSlices, `[1].devices[1].uuid`, "GPU-gpu-01-0")).Fails("gpu-02", "offered twice"),
		checktest.When("a pod with a claim runs on a node with a free GPU", checktest.Set(kindFree, `.nodes[last]`, checktest.LeftOut)).Fails("", ""),
		checktest.When("the claim is the same to the end", checktest.Set(kindPod+"@"+allocatableAgain, `.claim.uid`, "another")).Unobserved("", ""),
		checktest.When("the refused pod is observed after the other", checktest.Set(kindPod+"@"+impossible, `.at`, "2026-11-21T20:00:02Z")).Unobserved("", ""),
		checktest.When("the second observation of the first pod is the last", checktest.Set(kindPod+"@"+allocatableAgain, `.at`, "2026-11-21T10:00:01Z")).Unobserved("", ""),
	})
}
