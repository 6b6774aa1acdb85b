package collective

import (
	"fmt"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// TestClaimRules covers the GPUs of a job that claims them.
func TestClaimRules(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.GPUStack.DeviceClass = site.DRADeviceClass
	g := testGate(t, s)
	_, obs := observeAndJudge(t, g, cluster{})
	claims := allocation.Figures{Class: site.DRADeviceClass, Pods: map[string]string{}, GPUs: map[string][]inventory.GPU{}}
	for i, node := range g.nodes() {
		pod := fmt.Sprintf("collective-%d", i)
		claims.Pods[pod] = node
		for gpu := range g.gpus() {
			claims.GPUs[pod] = append(claims.GPUs[pod], inventory.GPU{Pool: node, Device: fmt.Sprintf("gpu-%d", gpu), UUID: fmt.Sprintf("GPU-%d-%d", i, gpu)})
		}
	}
	claimed := checktest.With(t, obs, checktest.Set(KindRun, `.outcome.claims`, claims))
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, claimed, []checktest.Rule{
		checktest.When("a declared class needs claims", checktest.Set(KindRun, `.outcome.claims`, checktest.LeftOut)).Unobserved("gpustack.deviceClass", "the pods claimed no GPUs"),
		checktest.When("claims allocate all GPUs").Passes(),
		checktest.When("claims of no pod", checktest.Set(KindRun, `.outcome.claims.pods`, map[string]string{}), checktest.Set(KindRun, `.outcome.claims.gpus`, map[string]string{})).Unobserved("ResourceClaims", "the claims of 0 pods were read"),
		checktest.When("a pod is missing", checktest.Set(KindRun, `.outcome.claims.pods["collective-1"]`, checktest.LeftOut), checktest.Set(KindRun, `.outcome.claims.gpus["collective-1"]`, checktest.LeftOut)).Unobserved("ResourceClaims", "the job has"),
		checktest.When("seven GPUs", checktest.Set(KindRun, `.outcome.claims.gpus["collective-1"][0]`, checktest.LeftOut)).Fails("ResourceClaim of pod collective-1", "allocates 7 GPUs"),
		checktest.When("a GPU of two pods", checktest.Set(KindRun, `.outcome.claims.gpus["collective-1"][0].uuid`, "GPU-0-0")).Fails("", "is allocated to pod collective-0 and to pod collective-1"),
	})
}
