package runner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// state is the snapshot of an objectSet, with names without the scenario's prefix and
// without the runner's labels.
func (l *layout) state(p *objectSet, version string) snapshot.State {
	out := snapshot.State{Recipe: l.scenario.Recipe, ResourceVersion: version}
	for _, n := range l.scenario.Nodes {
		if is, ok := p.nodes[prefixed(l.id, n.Name)]; ok {
			out.Nodes = append(out.Nodes, snapshot.Node{
				Name: n.Name, Ready: is.ready, Labels: l.ownLabels(is.labels), Taints: is.taints, Allocatable: is.allocatable,
			})
		}
	}
	for _, w := range l.ordered() {
		is, _ := p.status(w)
		row := snapshot.Workload{
			Component: w.component, Kind: w.spec.Kind, Name: w.spec.Name,
			Generation: is.generation, ObservedGeneration: is.observed, Desired: is.desired, Made: is.current, Trouble: p.problem(w),
		}
		if w.rejected != "" {
			row.Trouble, row.Desired = w.rejected, w.spec.Replicas
		}
		out.Workloads = append(out.Workloads, row)
		for _, k := range slices.Sorted(maps.Keys(p.pods[w.key])) {
			out.Pods = append(out.Pods, l.podState(w, p.pods[w.key][k]))
		}
		if g, ok := p.gangs[w.spec.Name]; w.gang && ok {
			out.Gangs = append(out.Gangs, snapshot.Gang{Owner: w.component, Name: g.name, Scheduled: g.scheduled, Reason: g.reason, Message: g.message})
		}
	}
	return out
}

func (l *layout) podState(w *workload, p pod) snapshot.Pod {
	out := snapshot.Pod{
		Component: w.component, Workload: w.spec.Name, Kind: w.spec.Kind, Name: p.name,
		Node: l.localName(p.node), Phase: string(p.phase),
	}
	if p.node == "" {
		out.Reason, out.Message = p.reason, p.message
		if p.otherScheduler() && p.reason == "" {
			out.Reason, out.Message = noScheduler, "no such scheduler: "+p.scheduler
		}
	}
	return out
}

// noScheduler is the reason of a pod whose scheduler does not run.
const noScheduler = "NoScheduler"

// ownLabels are a node's labels without the runner's and with its name in the scenario.
func (l *layout) ownLabels(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	delete(out, LabelScenario)
	delete(out, labelOwn)
	delete(out, labelRound)
	if host, ok := out[corev1.LabelHostname]; ok {
		out[corev1.LabelHostname] = l.localName(host)
	}
	return out
}

// ordered lists the created workloads: components in deployment order, probe, controls,
// barriers.
func (l *layout) ordered() []*workload {
	var out, barriers []*workload
	for _, w := range slices.Concat(l.components, []*workload{l.probe}, l.controls) {
		if l.workloads[w.key] != nil {
			out = append(out, w)
		}
	}
	for _, w := range l.workloads {
		if strings.HasPrefix(w.key, snapshot.OwnerBarrier) && w.component == snapshot.OwnerBarrier {
			barriers = append(barriers, w)
		}
	}
	slices.SortFunc(barriers, func(a, b *workload) int { return cmp.Compare(a.key, b.key) })
	return append(out, barriers...)
}
