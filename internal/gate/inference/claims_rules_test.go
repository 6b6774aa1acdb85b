package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// TestClaimRules covers the GPUs of a server that claims them.
func TestClaimRules(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.GPUStack.DeviceClass = site.DRADeviceClass
	g := testGate(t, s)
	const pod = "inference-0-abcde"
	claims := allocation.Figures{Class: site.DRADeviceClass, Pods: map[string]string{pod: "gpu-02"}, GPUs: map[string][]inventory.GPU{pod: {{Pool: "gpu-02", Device: "gpu-0", UUID: "GPU-1"}}}}
	claimed := checktest.With(t, served(t, g), checktest.Set(KindServer, `.claims`, claims))
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, claimed, []checktest.Rule{
		checktest.When("a declared class needs claims", checktest.Set(KindServer, `.claims`, checktest.LeftOut)).Unobserved("gpustack.deviceClass", "the pods claimed no GPUs"),
		checktest.When("the claim allocates the server's GPU").Passes(),
		checktest.When("claims of no pod", checktest.Set(KindServer, `.claims.pods`, map[string]string{}), checktest.Set(KindServer, `.claims.gpus`, map[string]string{})).Unobserved("ResourceClaims", "the claims of 0 pods were read"),
		checktest.When("a GPU more", checktest.Set(KindServer, `.claims.gpus["inference-0-abcde"][0]`, checktest.Twice)).Fails("ResourceClaim of pod "+pod, "allocates 2 GPUs of gpu-02, want 1"),
		checktest.When("an unobserved claim", checktest.Set(KindServer, `.claims.gpus["inference-0-abcde"]`, checktest.LeftOut)).Unobserved("ResourceClaim of pod "+pod, "was not observed"),
	})
}
