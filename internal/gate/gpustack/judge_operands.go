package gpustack

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

func (g *Gate) judgeOperands(b *check.Builder, o check.Observation, operands []operandFigures) {
	if len(g.stack.Operands) == 0 {
		b.Unobserved(o.ID, "site gpustack.operands", "name the operator's DaemonSets in gpustack.operands", "has no DaemonSet, so none was observed")
		return
	}
	if g.stack.Provided() {
		for _, pattern := range g.stack.Operands {
			g.judgeTogether(b, o, pattern, operands)
		}
		return
	}
	complete := 0
	for _, name := range g.stack.Operands {
		before := b.Failures()
		if site.IsPattern(name) {
			g.judgeTogether(b, o, name, operands)
		} else if i := slices.IndexFunc(operands, func(f operandFigures) bool { return f.Name == name }); i >= 0 {
			g.judgeOperand(b, o, operands[i])
		} else {
			b.Unobserved(o.ID, "DaemonSet "+name, "run the gate again", "was not observed")
			continue
		}
		if b.Failures() == before {
			complete++
		}
	}
	b.Figure(check.Figure{
		Name: "complete operands", Value: float64(complete), Unit: "DaemonSets",
		Limit: float64(len(g.stack.Operands)), Relation: "==", Source: "site gpustack.operands",
	})
}

const remedyOutdated = "wait for the rollout of the DaemonSet; if its update strategy is OnDelete, delete the pod"

func (g *Gate) judgeOperand(b *check.Builder, o check.Observation, f operandFigures) {
	suspect := g.stack.Namespace + "/" + f.Name
	if !f.Found {
		b.Fail(o.ID, "DaemonSet "+suspect, "enable the operand in the ClusterPolicy, or remove it from gpustack.operands", "does not exist")
		return
	}
	without := g.noteWithout(b, o, "DaemonSet "+suspect, f)
	if len(without) < len(g.nodes) && !slices.ContainsFunc(f.Pods, func(p operandPod) bool { return slices.Contains(g.nodes, p.Node) }) {
		b.Fail(o.ID, "DaemonSet "+suspect, "check that the nodes have the labels of the DaemonSet's nodeSelector and only taints that it tolerates", "has no pod on any of the inventory's %d nodes; desired are %d", len(g.nodes), f.Desired)
		return
	}
	before := b.Failures()
	for _, node := range g.nodes {
		i := slices.IndexFunc(f.Pods, func(p operandPod) bool { return p.Node == node })
		switch {
		case slices.Contains(without, node):
		case i < 0:
			b.Fail(o.ID, node+"/"+f.Name, "check that the node has the labels of the DaemonSet's nodeSelector and only taints that it tolerates", "%s has no pod of DaemonSet %s", node, suspect)
		case !f.Pods[i].Ready:
			b.Fail(o.ID, node+"/"+f.Name,
				fmt.Sprintf("kubectl -n %s describe pod %s; kubectl -n %s logs %s --all-containers", g.stack.Namespace, f.Pods[i].Pod, g.stack.Namespace, f.Pods[i].Pod),
				"pod %s/%s on %s is not ready: %s", g.stack.Namespace, f.Pods[i].Pod, node, f.Pods[i].Why)
		case f.Pods[i].Outdated:
			b.Fail(o.ID, node+"/"+f.Name, remedyOutdated, "pod %s/%s on %s is of an older revision of its DaemonSet", g.stack.Namespace, f.Pods[i].Pod, node)
		}
	}
	g.judgeImages(b, o, f)
	if b.Failures() > before {
		return // findings about pods are more precise than counts
	}
	if len(g.site.Inventory.OtherNodes) > 0 {
		return // the counts are also those of other sites' nodes, which may be any number
	}
	if left := len(g.site.Inventory.LeftOut); left > 0 {
		if f.Desired > len(g.nodes)+left { // the pods of the other nodes are judged one by one
			b.Fail(o.ID, "DaemonSet "+suspect, "correct the inventory, or the DaemonSet's nodeSelector", "has %d desired pods, on an inventory of %d nodes and %d that are left out", f.Desired, len(g.nodes), left)
		}
		return
	}
	if !f.Current || f.Desired != len(g.nodes)-len(without) || f.Ready != f.Desired || f.Updated != f.Desired {
		b.Fail(o.ID, "DaemonSet "+suspect,
			"wait for its rollout (kubectl -n "+g.stack.Namespace+" rollout status ds/"+f.Name+"), then run the gate again",
			"%d ready and %d up to date of %d desired, on an inventory of %d nodes; status current: %t",
			f.Ready, f.Updated, f.Desired, len(g.nodes), f.Current)
	}
}
