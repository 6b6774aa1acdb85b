package gpustack

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on the GPU stack, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	g := gate(t)
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, healthy(g).observations(t), []checktest.Rule{
		checktest.When("Ready is True", checktest.Set(kindPolicy, `.conditions[0].status`, "False")).Fails("ClusterPolicy cluster-policy", "Ready=False with reason Reconciled"),
		checktest.When("Ready for another reason than Reconciled is not ready", checktest.Set(kindPolicy, `.conditions[0].reason`, "Paused")).Fails("ClusterPolicy cluster-policy", "Ready=True with reason Paused"),
		checktest.When("one pod of a gang that does not fit is one too many", checktest.Set("gang-proof@gang-too-large", `.placement.bound`, 1)).Fails("gang scheduler native", "placed 1 of 5 pods"),
		checktest.When("a scheduler that never looked has decided nothing", checktest.Set("gang-proof@gang-too-large", `.placement.refused`, 0)).Unobserved("gang scheduler native", "no decision"),
		checktest.When("one pod that is refused is a decision", checktest.Set("gang-proof@gang-too-large", `.placement.refused`, 1)).Passes(),
		checktest.When("the group that is refused is a decision", checktest.Set("gang-proof@gang-too-large", `.placement.refused`, 0), checktest.Set("gang-proof@gang-too-large", `.placement.groupRefused`, true)).Passes(),
		checktest.When("the capacity is what the site expects", checktest.Set(KindNodes, `[0].resources["nvidia.com/gpu"].capacity`, 7)).Fails("gpu-01/nvidia.com/gpu", "a capacity of 7"),
		checktest.When("the allocatable resources are those of the site", checktest.Set(KindNodes, `[3].resources["rdma/ib"].allocatable`, 7)).Fails("gpu-04/rdma/ib", "7 of rdma/ib allocatable"),
		checktest.When("a DaemonSet is ready on each node by its status", checktest.Set(kindOperands, `[0].ready`, 3)).Fails("DaemonSet gpu-operator/nvidia-driver-daemonset", "3 ready"),
		checktest.When("a container that one pod does not name has not been compared", checktest.Set(kindOperands, `[0].pods[2].images[0].container`, "")).Unobserved("gpu-03/nvidia-driver-daemonset", "its image is unknown"),
		checktest.When("a container that one pod alone names has been compared with none", checktest.Set(kindOperands, `[0].pods[2].images[0].container`, "other")).Unobserved("gpu-01/nvidia-driver-daemonset", "container other on gpu-01"),
		checktest.When("a pod on an unknown node has no DNS lookup", checktest.Set("gang-proof@gang-fits", `.placement.nodes["gang-gpu-02"]`, checktest.LeftOut)).Unobserved("gang scheduler native", "only 3 nodes are known for 4 placed pods"),
		checktest.When("pods on unknown nodes have no DNS lookup", checktest.Set("gang-proof@gang-fits", `.placement.nodes`, checktest.LeftOut)).Unobserved("gang scheduler native", "only 0 nodes are known for 4 placed pods"),
	})
}
