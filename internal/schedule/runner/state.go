package runner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// state is a picture in the cell's own words: names without the cell's prefix,
// labels without those that only the arena reads.
func (l *layout) state(p *picture, version string) snapshot.State {
	out := snapshot.State{Recipe: l.scenario.Recipe, ResourceVersion: version}
	for _, n := range l.scenario.Nodes {
		if is, ok := p.nodes[prefixed(l.id, n.Name)]; ok {
			out.Nodes = append(out.Nodes, snapshot.Node{
				Name: n.Name, Ready: is.ready, Labels: l.ownLabels(is.labels), Taints: is.taints, Allocatable: is.allocatable,
			})
		}
	}
	for _, w := range l.inOrder() {
		is, _ := p.account(w)
		row := snapshot.Workload{
			Component: w.component, Kind: w.spec.Kind, Name: w.spec.Name,
			Generation: is.generation, ObservedGeneration: is.observed, Desired: is.desired, Made: is.current, Trouble: p.trouble(w),
		}
		if w.refused != "" {
			row.Trouble, row.Desired = w.refused, w.spec.Replicas
		}
		out.Workloads = append(out.Workloads, row)
		for _, k := range slices.Sorted(maps.Keys(p.pods[w.of])) {
			out.Pods = append(out.Pods, l.podState(w, p.pods[w.of][k]))
		}
		if g, ok := p.gangs[w.spec.Name]; w.gang && ok {
			out.Gangs = append(out.Gangs, snapshot.Gang{Owner: w.component, Name: g.name, Scheduled: g.scheduled, Reason: g.reason, Message: g.message})
		}
	}
	return out
}

func (l *layout) podState(w *work, p pod) snapshot.Pod {
	out := snapshot.Pod{
		Component: w.component, Workload: w.spec.Name, Kind: w.spec.Kind, Name: p.name,
		Node: l.local(p.node), Phase: string(p.phase),
	}
	if p.node == "" {
		out.Reason, out.Message = p.reason, p.message
		if p.forsaken() && p.reason == "" {
			out.Reason, out.Message = noScheduler, "there is no scheduler "+p.scheduler
		}
	}
	return out
}

// noScheduler is the reason of a pod that waits for a scheduler that is not there.
const noScheduler = "NoScheduler"

// ownLabels are a node's without the arena's, its name as in the cell.
func (l *layout) ownLabels(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	delete(out, LabelCell)
	delete(out, labelOwn)
	delete(out, labelTurn)
	if host, ok := out[corev1.LabelHostname]; ok {
		out[corev1.LabelHostname] = l.local(host)
	}
	return out
}

// inOrder are all that were made: components in deployment order, probe, controls,
// barriers.
func (l *layout) inOrder() []*work {
	var out, barriers []*work
	for _, w := range slices.Concat(l.components, []*work{l.probe}, l.controls) {
		if l.works[w.of] != nil {
			out = append(out, w)
		}
	}
	for _, w := range l.works {
		if strings.HasPrefix(w.of, snapshot.OwnerBarrier) && w.component == snapshot.OwnerBarrier {
			barriers = append(barriers, w)
		}
	}
	slices.SortFunc(barriers, func(a, b *work) int { return cmp.Compare(a.of, b.of) })
	return append(out, barriers...)
}
