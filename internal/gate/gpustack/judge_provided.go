package gpustack

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// judgePolicies requires that the GPU Operator, if there is one, installs no second device plugin.
func (g *Gate) judgePolicies(b *check.Builder, obs []check.Observation) {
	policies, o, ok := check.Require[[]policyRole](b, obs, kindPolicies, "", "the ClusterPolicies", readRemedy(obs, kindPolicies))
	if !ok {
		return
	}
	for _, p := range policies {
		if p.DevicePlugin {
			b.Fail(o.ID, "ClusterPolicy "+p.Name, "set devicePlugin.enabled: false in the policy, or remove gpustack.managedBy from the site file: two device plugins register the same GPUs",
				"has the GPU Operator install a device plugin, though the site says that the provider does")
		}
	}
}

// judgeTogether requires that the DaemonSets of a pattern together have a ready pod on each inventory
// node, of the current revision. A provider has one for each kind of node, and the GPU Operator one of a precompiled
// driver for each kernel; some have no nodes.
func (g *Gate) judgeTogether(b *check.Builder, o check.Observation, pattern string, all []operandFigures) {
	sets := slices.DeleteFunc(slices.Clone(all), func(f operandFigures) bool { return !f.Found || !g.stack.Names(pattern, f.Name) })
	suspect := "DaemonSet " + g.stack.Namespace + "/" + pattern
	absent, without := "turn the provider's GPU driver on", "check the labels of the node: the provider's DaemonSets select nodes by the accelerator's"
	if !g.stack.Provided() {
		absent, without = "enable the operand in the ClusterPolicy", "check that the node has the labels of a DaemonSet's nodeSelector, such as its kernel or OS, and only taints that it tolerates"
	}
	if len(sets) == 0 {
		b.Fail(o.ID, suspect, "correct gpustack.operands and gpustack.namespace in the site file, or "+absent, "does not exist")
		return
	}
	complete, intended := 0, g.noteWithout(b, o, suspect, sets...)
	for _, node := range g.nodes {
		var pods []operandPod
		for _, f := range sets {
			pods = append(pods, slices.DeleteFunc(slices.Clone(f.Pods), func(p operandPod) bool { return p.Node != node })...)
		}
		ready := slices.IndexFunc(pods, func(p operandPod) bool { return p.Ready })
		switch {
		case slices.Contains(intended, node):
		case len(pods) == 0:
			b.Fail(o.ID, node+"/"+pattern, without, "%s has no pod of %s", node, suspect)
		case len(pods) > 1:
			b.Fail(o.ID, node+"/"+pattern, "remove one of the DaemonSets: two device plugins register the same GPUs, and two drivers replace each other", "%s has %d pods of %s", node, len(pods), suspect)
		case ready < 0:
			b.Fail(o.ID, node+"/"+pattern, fmt.Sprintf("kubectl -n %[1]s describe pod %[2]s; kubectl -n %[1]s logs %[2]s --all-containers", g.stack.Namespace, pods[0].Pod),
				"pod %s/%s on %s is not ready: %s", g.stack.Namespace, pods[0].Pod, node, pods[0].Why)
		case pods[0].Outdated: // the DaemonSet's counts do not show it where its pods run on other nodes, too
			b.Fail(o.ID, node+"/"+pattern, remedyOutdated, "pod %s/%s on %s is of an older revision of its DaemonSet", g.stack.Namespace, pods[0].Pod, node)
		default:
			complete++
		}
	}
	b.Figure(check.Figure{
		Name: "nodes with " + pattern, Value: float64(complete), Unit: "nodes", Limit: float64(len(g.nodes) - len(intended)), Relation: "==", Source: "site gpustack.operands",
	})
	for _, f := range sets {
		g.judgeImages(b, o, f)
		ours := slices.DeleteFunc(slices.Clone(f.Pods), func(p operandPod) bool { return !slices.Contains(g.nodes, p.Node) })
		others := len(ours) != f.Desired // pods of nodes that are not judged: the counts are also theirs
		if !f.Current || !others && (f.Ready != f.Desired || f.Updated != f.Desired) {
			b.Fail(o.ID, "DaemonSet "+g.stack.Namespace+"/"+f.Name, "wait for its rollout, then run the gate again",
				"%d ready and %d up to date of %d desired; status current: %t", f.Ready, f.Updated, f.Desired, f.Current)
		}
	}
}
