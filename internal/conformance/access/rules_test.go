package access

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of pods and claims at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, (&Check{nodes: []string{"gpu-01"}}).Judge, healthy().observations(t), []checktest.Rule{
		checktest.When("a claim is allocated", checktest.Set(kindPod+"@"+claimant, `.claim.allocated`, false)).Fails("ResourceClaim of ns/claimant", "does not have exactly one device"),
		checktest.When("the claim is allocated to the end", checktest.Set(kindTogether, `[0].claim.allocated`, false)).Unobserved("ResourceClaim of ns/claimant", "deallocated before"),
		checktest.When("the claim is the same to the end", checktest.Set(kindTogether, `[0].claim.uid`, "another")).Unobserved("ResourceClaim of ns/claimant", "deallocated before"),
	})
}
