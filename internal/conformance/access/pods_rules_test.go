package access

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
)

// TestPodRules covers pods that are not the claimant's.
func TestPodRules(t *testing.T) {
	t.Parallel()
	c := &Check{nodes: []string{"gpu-01"}}
	pending := func(pod string) []checktest.Change {
		return []checktest.Change{
			checktest.Set(kindPod+"@"+pod, `.phase`, "Pending"), checktest.Set(kindPod+"@"+pod, `.containers`, []any{}),
			checktest.Set(kindPod+"@"+pod, `.claim`, map[string]any{"name": "c", "uid": "c", "allocated": false}),
			checktest.Set(kindPod+"@"+pod, `.scheduled`, map[string]any{"status": "False", "reason": "Unschedulable"}),
		}
	}
	checktest.Rules(t, c.Judge, healthy().observations(t), []checktest.Rule{
		checktest.When("a claim that is not allocated to its pod fails", pending(claimant)...).Fails("ResourceClaim of ns/claimant", "was not allocated"),
		checktest.When("another pod that is not scheduled shows nothing", pending(bystander)...).Unobserved("pod ns/bystander", "does not run"),
		checktest.When("an allocated claim does not explain a pod that is not scheduled",
			append(pending(claimant), checktest.Set(kindPod+"@"+claimant, `.claim.allocated`, true))...).Unobserved("pod ns/claimant", "does not run"),
		checktest.When("a pod without a UID is not found again", checktest.Set(kindPod+"@"+bystander, `.uid`, ""),
			checktest.Set(kindDevices+"@"+bystander+"/"+looker, `.uid`, ""), checktest.Set(kindTogether, `[1].uid`, "")).Unobserved("pod ns/bystander", "it stopped before"),
		checktest.When("a container with the claim in which nvidia-smi fails shows nothing",
			checktest.Set(kindDevices+"@"+claimant+"/"+claimed, `.tool`, toolFailed)).Unobserved("container "+claimant+"/"+claimed, "nvidia-smi failed in it"),
	})
	if j := c.Judge(healthy().observations(t)); j.Verdict != check.Passed || !strings.HasPrefix(j.Reason, "on gpu-01 ") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
