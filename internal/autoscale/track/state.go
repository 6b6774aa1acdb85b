package track

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/autoscale/render"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// Before lists the initial nodes by name, and the NodePool or node group of those that
// have one.
func (t *Tracker) Before() ([]snapshot.Ref, map[string]string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return byName(t.before), maps.Clone(t.beforePools)
}

func byName(refs map[types.UID]snapshot.Ref) []snapshot.Ref {
	out := slices.Collect(maps.Values(refs))
	slices.SortFunc(out, func(a, b snapshot.Ref) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// State returns the current state.
func (t *Tracker) State() snapshot.State {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := snapshot.State{
		At: t.o.Clock.Now(), APIs: t.apisNow(), Programs: t.programsNow(), Pools: t.poolsNow(),
		Pods: t.pods.list(nil), Claims: t.claims.list(nil), Nodes: t.nodes.list(nil),
		Desired: slices.Clone(t.desired), Missing: byName(t.missing), Problems: map[string]string{},
	}
	for i := range st.Nodes {
		st.Nodes[i].Holders = t.on(types.UID(st.Nodes[i].UID))
	}
	if hpas := t.hpas.list(nil); len(hpas) > 0 {
		st.HPA = &hpas[len(hpas)-1]
	}
	st.Queues = t.queuesNow(st.Pods)
	st.Events = t.eventsNow()
	maps.Copy(st.Problems, t.problems)
	st.Sources = t.listedNow()
	return st
}

// listedNow lists the sources of which every part was listed: "programs" after each program.
func (t *Tracker) listedNow() []string {
	waits := map[string]bool{}
	for name, unlisted := range t.unlisted {
		what, _, _ := strings.Cut(name, "/")
		waits[what] = waits[what] || unlisted
	}
	maps.DeleteFunc(waits, func(_ string, waits bool) bool { return waits })
	return slices.Sorted(maps.Keys(waits))
}

// poolsNow lists the run's pools, including missing ones.
func (t *Tracker) poolsNow() []snapshot.Pool {
	if !t.o.Karpenter {
		return nil
	}
	out := t.pools.list(func(p *snapshot.Pool) bool { return !p.Gone() })
	for _, name := range t.o.Pools {
		if !slices.ContainsFunc(out, func(p snapshot.Pool) bool { return p.Name == name }) {
			out = append(out, snapshot.Pool{Ref: snapshot.Ref{Kind: "NodePool", Name: name}, Absent: true, GPULimit: -1})
		}
	}
	return out
}

// eventsNow lists the events about the run's pods and their controllers, HPA and pools, and
// about the claims and nodes of its pools.
func (t *Tracker) eventsNow() []snapshot.Event {
	var out []snapshot.Event
	for _, e := range t.events.rows {
		uid, whose := t.identify(e.About)
		if whose != run {
			continue
		}
		e.About.UID = uid
		out = append(out, e)
	}
	slices.SortFunc(out, func(x, y snapshot.Event) int {
		return cmp.Or(x.First.Compare(y.First), cmp.Compare(x.About.Name, y.About.Name), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Message, y.Message))
	})
	return out
}

// makesPods reports whether an object has the name of one of the run's workloads.
func makesPods(r snapshot.Ref) bool {
	switch r.Kind {
	case "Deployment":
		return r.Name == render.Worker
	case "ReplicaSet":
		return strings.HasPrefix(r.Name, render.Worker+"-")
	case "Job", "PodGroup":
		return slices.Contains([]string{render.Holder, render.Load, render.GangJob, render.ShortJob}, r.Name) || r.Kind == "PodGroup" && strings.Contains(r.Name, render.Worker)
	default:
		return false
	}
}
