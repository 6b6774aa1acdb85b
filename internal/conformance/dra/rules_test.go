package dra

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of claims at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, (&Check{nodes: []string{"gpu-01", "gpu-02"}, gpus: 2}).Judge, healthy().observations(t), []checktest.Rule{
		checktest.When("a pod with a claim runs on a node with a free GPU", checktest.Set(kindFree, `.nodes[last]`, checktest.LeftOut)).Fails("", ""),
		checktest.When("the claim is the same to the end", checktest.Set(kindPod+"@"+allocatableAgain, `.claim.uid`, "another")).Unobserved("", ""),
		checktest.When("the refused pod is observed after the other", checktest.Set(kindPod+"@"+impossible, `.at`, "2026-11-21T20:00:02Z")).Unobserved("", ""),
		checktest.When("the second observation of the first pod is the last", checktest.Set(kindPod+"@"+allocatableAgain, `.at`, "2026-11-21T10:00:01Z")).Unobserved("", ""),
	})
}
