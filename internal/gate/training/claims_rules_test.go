package training

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

// TestClaimRules covers the GPUs of a job that claims them: the pods compute on these, and on no others.
func TestClaimRules(t *testing.T) {
	t.Parallel()
	s := testSite(frameworkTorchtitan)
	s.Spine, s.GPUStack.DeviceClass = "kubernetes", site.DRADeviceClass
	g := testGate(t, s)
	_, obs := observeAndJudge(t, g, fakeTrainer{})
	claims := allocation.Figures{Class: site.DRADeviceClass, Pods: map[string]string{}, GPUs: map[string][]inventory.GPU{}}
	for pod := range 4 {
		name, node := fmt.Sprintf("training-%d-abcde", pod), fmt.Sprintf("gpu-%02d", pod+1)
		claims.Pods[name] = node
		for gpu := range 8 {
			claims.GPUs[name] = append(claims.GPUs[name], inventory.GPU{Pool: node, Device: fmt.Sprintf("gpu-%d", gpu), UUID: fmt.Sprintf("GPU-%d", 8*pod+gpu)})
		}
	}
	claimed := checktest.With(t, obs, checktest.Set(KindJob, `.outcome.claims`, claims))
	of := func(pod int, path string) string {
		return fmt.Sprintf(`.outcome.claims.gpus["training-%d-abcde"]%s`, pod, path)
	}
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, claimed, []checktest.Rule{
		checktest.When("a declared class needs claims", checktest.Set(KindJob, `.outcome.claims`, checktest.LeftOut)).Unobserved("gpustack.deviceClass", "the pods claimed no GPUs"),
		checktest.When("the pods compute on the GPUs of their claims").Passes(),
		checktest.When("claims of no pod", checktest.Set(KindJob, `.outcome.claims.pods`, map[string]string{}), checktest.Set(KindJob, `.outcome.claims.gpus`, map[string]string{})).Unobserved("ResourceClaims", "the claims of 0 pods were read"),
		checktest.When("a pod is missing", checktest.Set(KindJob, `.outcome.claims.pods["training-1-abcde"]`, checktest.LeftOut), checktest.Set(KindJob, `.outcome.claims.gpus["training-1-abcde"]`, checktest.LeftOut)).Unobserved("ResourceClaims", "the job has 4"),
		checktest.When("seven GPUs", checktest.Set(KindJob, of(2, `[7]`), checktest.LeftOut)).Fails("ResourceClaim of pod training-2-abcde", "allocates 7 GPUs of gpu-03, want 8"),
		checktest.When("an unobserved claim", checktest.Set(KindJob, of(2, ""), checktest.LeftOut)).Unobserved("ResourceClaim of pod training-2-abcde", "was not observed"),
		checktest.When("claims that cannot be read", checktest.Set(KindJob, `.outcome.claims.unread`, "forbidden")).Unobserved("ResourceClaims", "forbidden"),
		checktest.When("a device that is not a GPU of the node", checktest.Set(KindJob, of(1, `[3].uuid`), "")).Fails("DeviceClass gpu.nvidia.com", "device gpu-02/gpu-3 is allocated to pod training-1-abcde"),
		checktest.When("a GPU of two pods", checktest.Set(KindJob, of(1, `[0].uuid`), "GPU-0")).Fails("gpu-02", "GPU GPU-0 (gpu-02/gpu-0) is allocated to pod training-0-abcde and to pod training-1-abcde"),
		checktest.When("a pod computes on a GPU of another claim", checktest.Set("rank-log@gpu-04", `.gpus[5].uuid`, "GPU-0")).Fails("gpu-04/DRA driver", "computes on GPU GPU-0 (device 5), which its claim does not allocate"),
		checktest.When("a measurement without a UUID", checktest.Set("rank-log@gpu-04", `.gpus[5].uuid`, "")).Unobserved("gpu-04", "1 of 8 GPUs of pod training-3-abcde were measured without a UUID"),
		checktest.When("two measurements of one GPU", checktest.Set("rank-log@gpu-04", `.gpus[5].uuid`, "GPU-28")).Fails("gpu-04/DRA driver", "does not compute on GPU GPU-29, which its claim allocates"),
	})
}
