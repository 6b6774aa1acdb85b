package gpustack

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

func (g *Gate) judgeOperands(c *conclusions, o check.Observation, operands []operandFigures) {
	if len(g.stack.Operands) == 0 {
		c.missing(o, "site gpustack.operands", "names no DaemonSet, so none was looked at", "name the operator's DaemonSets in gpustack.operands")
		return
	}
	complete := 0
	for _, name := range g.stack.Operands {
		i := slices.IndexFunc(operands, func(f operandFigures) bool { return f.Name == name })
		if i < 0 {
			c.missing(o, "DaemonSet "+name, "was not looked at", "run the gate again")
			continue
		}
		before := len(c.wrong)
		g.judgeOperand(c, o, operands[i])
		if len(c.wrong) == before {
			complete++
		}
	}
	c.figures = append(c.figures, check.Figure{
		Name: "complete operands", Value: float64(complete), Unit: "DaemonSets",
		Limit: float64(len(g.stack.Operands)), Relation: "==", Source: "site gpustack.operands",
	})
}

func (g *Gate) judgeOperand(c *conclusions, o check.Observation, f operandFigures) {
	suspect := g.stack.Namespace + "/" + f.Name
	if !f.Found {
		c.fail(o, "DaemonSet "+suspect, "does not exist", "enable the operand in the ClusterPolicy, or take it out of gpustack.operands")
		return
	}
	if !slices.ContainsFunc(f.Pods, func(p operandPod) bool { return slices.Contains(g.nodes, p.Node) }) {
		c.fail(o, "DaemonSet "+suspect, fmt.Sprintf("has no pod on any of the inventory's %d nodes; it wants %d", len(g.nodes), f.Desired),
			"see that the nodes have the labels of the DaemonSet's nodeSelector and only taints that it tolerates")
		return
	}
	before := len(c.wrong)
	for _, node := range g.nodes {
		i := slices.IndexFunc(f.Pods, func(p operandPod) bool { return p.Node == node })
		switch {
		case i < 0:
			c.fail(o, node+"/"+f.Name, fmt.Sprintf("%s has no pod of DaemonSet %s", node, suspect),
				"see that the node has the labels of the DaemonSet's nodeSelector and only taints that it tolerates")
		case !f.Pods[i].Ready:
			c.fail(o, node+"/"+f.Name, fmt.Sprintf("pod %s/%s on %s is not ready: %s", g.stack.Namespace, f.Pods[i].Pod, node, f.Pods[i].Why),
				fmt.Sprintf("kubectl -n %s describe pod %s; kubectl -n %s logs %s --all-containers", g.stack.Namespace, f.Pods[i].Pod, g.stack.Namespace, f.Pods[i].Pod))
		}
	}
	g.judgeImages(c, o, f)
	if len(c.wrong) > before {
		return // the pods say it better than the counts
	}
	if !f.Current || f.Desired != len(g.nodes) || f.Ready != f.Desired || f.Updated != f.Desired {
		c.fail(o, "DaemonSet "+suspect,
			fmt.Sprintf("%d ready and %d up to date of %d desired, on an inventory of %d nodes; status current: %t", f.Ready, f.Updated, f.Desired, len(g.nodes), f.Current),
			"wait for its rollout (kubectl -n "+g.stack.Namespace+" rollout status ds/"+f.Name+"), then run the gate again")
	}
}
