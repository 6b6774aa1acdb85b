package training

import (
	"slices"
)

// placement requires that every pod ran on its own node of the inventory, and that the job and
// the logs agree.
func (r *review) placement() {
	for _, node := range r.job.Nodes {
		if !slices.Contains(r.inventory(), node) {
			r.Fail(r.jobID, node, "run the gate again with this site", "the job was allowed on %s, which is not in the inventory", node)
		}
	}
	placed := map[string]string{}
	for _, p := range r.job.Outcome.Pods {
		placed[p.Pod] = p.Node
	}
	pods := map[string]int{}
	for _, p := range r.pods {
		if placed[p.Pod] != p.Node {
			r.Unobserved(r.jobID, "pod "+p.Pod, remedyRead, "pod %s ran on %q according to the job and on %q according to its log", p.Pod, placed[p.Pod], p.Node)
		}
		switch known := slices.Contains(r.inventory(), p.Node); {
		case p.Node == "":
			r.Unobserved(r.jobID, "pod "+p.Pod, remedyRead, "the node of pod %s is unknown", p.Pod)
		case !known:
			r.Fail(p.id, p.Node, "find out why the job ran on this node", "pod %s ran on %s, which is not in the inventory", p.Pod, p.Node)
		default:
			if pods[p.Node]++; pods[p.Node] == 2 {
				r.Fail(p.id, p.Node, "find out why the job was not spread over its nodes", "%d pods of the job ran on %s: another node did not take part", pods[p.Node], p.Node)
			}
		}
	}
}

func (r *review) inventory() []string {
	var names []string
	for _, n := range r.gate.site.Inventory.Nodes {
		names = append(names, n.Name)
	}
	return names
}
