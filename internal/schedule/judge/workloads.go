package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// judgeFlaw adds a flaw of the recipe. A selector that matches no node because of a
// missing label is a consequence of the label's cause.
func (v *view) judgeFlaw(c cause) {
	v.found.addFollowing(v.rootCause(c), c.suspect, "%s", c.message)
}

// rootCause is the cause of a flaw, or the flaw itself.
func (v *view) rootCause(c cause) cause {
	for _, e := range v.expected {
		if c.key != v.noMatchingNode(e).key || len(e.Nodes) > 0 {
			continue
		}
		for _, n := range v.scenario.Own(e.Class) {
			if root, ok := v.findNodeCause(e, n, visited{e.id() + " on " + n.Name: true}); ok {
				return root
			}
		}
	}
	return c
}

// findNodeCause traces the labels and resources that a node lacks.
func (v *view) findNodeCause(e expected, n scenario.Node, w visited) (cause, bool) {
	if c, ok := v.whyLabelMissing(mismatch(e.workload.Pod, n.Name, v.has(n.Name)), n.Name, w); ok {
		return c, true
	}
	for _, resource := range v.neverOffers(n, e.workload.Pod) {
		if c, ok := v.whyNoResource(n.Name, resource, w); ok {
			return c, true
		}
	}
	return cause{}, false
}

// judgeWorkload compares a controller's status with its pods.
func (v *view) judgeWorkload(e expected) {
	list := v.workloads[e.owner()]
	if c, none := v.whyNoPods(e); none {
		v.found.add(c)
		return
	}
	if len(list) > 1 {
		v.found.add(cause{key: e.id() + " twice", suspect: e.id(), message: fmt.Sprintf("exists %d times", len(list)), remedy: "run the test again"})
	}
	w := list[0]
	if w.Kind == "Job" {
		return // its status counts active pods only
	}
	if w.ObservedGeneration < w.Generation {
		v.unobserved = append(v.unobserved, fmt.Sprintf("the controller of %s has observed generation %d of %d", e.id(), w.ObservedGeneration, w.Generation))
	}
	if n := len(v.podsOf(e.Expected)); int(w.Desired) != n || int(w.Made) != n {
		v.unobserved = append(v.unobserved, fmt.Sprintf("the controller of %s wants %d pods and counts %d, observed %d", e.id(), w.Desired, w.Made, n))
	}
}

// judgeDaemonSet requires one pod on each of its nodes and none elsewhere.
func (v *view) judgeDaemonSet(e expected) {
	byCause := map[string][]string{}
	causes := map[string]cause{}
	missing := 0
	for _, node := range e.Nodes {
		if v.runs(e.Expected, node) {
			continue
		}
		missing++
		c := v.whyNotRunning(e, node, visited{})
		causes[c.key] = c
		byCause[c.key] = append(byCause[c.key], node)
	}
	for _, key := range slices.Sorted(maps.Keys(causes)) {
		v.found.addFollowing(causes[key], e.id(), "has no running pod on %s", v.at(byCause[key]))
	}
	if left := waiting(v.podsOf(e.Expected)); len(left) > missing {
		v.found.add(v.whyWaiting(e, left, visited{}))
	}
	on := map[string]int{}
	for _, p := range v.podsOf(e.Expected) {
		v.judgePlacement(e, p)
		on[p.Node]++
		n, ours := v.node(p.Node)
		if p.Node == "" || !ours || !allowed(e.Class, n) {
			continue // judged by judgePlacement
		}
		if wanted := slices.Contains(e.Nodes, p.Node); !wanted || on[p.Node] > 1 {
			v.found.add(v.tooMany(e, p.Node, on[p.Node], wanted))
		}
	}
}

func (v *view) tooMany(e expected, node string, pods int, wanted bool) cause {
	want := 0
	if wanted {
		want = 1
	}
	return cause{
		key: e.id() + " too many", suspect: e.id(), message: fmt.Sprintf("has %d pods on %s, want %d by its selector", pods, v.at([]string{node}), want),
		remedy: "run the test again; if it persists, its node selector differs from the footprint",
	}
}

// judgeReplicas requires the right number of pods, each on a node of its class.
func (v *view) judgeReplicas(e expected) {
	pods := v.podsOf(e.Expected)
	if left := waiting(pods); len(left) > 0 {
		c := v.whyWaiting(e, left, visited{})
		v.found.addFollowing(c, e.id(), "%d of %d pods are Pending; scheduler: %s", len(left), e.Pods, schedulerText(bestMessage(left)))
	}
	if _, none := v.whyNoPods(e); len(pods) != e.Pods && !none {
		v.found.add(cause{
			key: e.id() + " count", suspect: e.id(), message: fmt.Sprintf("has %d pods, want %d", len(pods), e.Pods),
			remedy: "run the test again; if it persists, see its controller's log in the evidence",
		})
	}
	for _, p := range pods {
		v.judgePlacement(e, p)
	}
}

// judgePlacement requires that a bound pod is in a good phase on a node of its class, and
// on a GPU node if it requests devices.
func (v *view) judgePlacement(e expected, p *snapshot.Pod) {
	if p.Node == "" {
		if p.Phase == "Failed" {
			v.found.add(badPhase(e, p))
		}
		return
	}
	if !phaseOK(p) {
		v.found.add(badPhase(e, p))
	}
	n, ours := v.node(p.Node)
	switch {
	case !ours:
		v.found.add(cause{
			key: e.id() + " elsewhere", suspect: e.id(), message: fmt.Sprintf("its pod %s is on %s, which is not a node of the recipe", p.Name, p.Node),
			remedy: "run the test again; if it persists, the pods are not restricted to their scenario",
		})
	case !allowed(e.Class, n):
		v.found.add(v.misplaced(e, n))
	case n.Class != footprint.Accelerated && len(devices(e.workload.Pod)) > 0:
		v.found.add(cause{
			key: e.id() + " devices", suspect: e.id(), message: fmt.Sprintf("requests devices of GPU nodes, but its pod is on %s", v.at([]string{n.Name})),
			remedy: "let it select GPU nodes: " + v.setRemedy(e, "node selector"),
		})
	}
}

// misplaced: a pod on a node of a wrong class.
func (v *view) misplaced(e expected, n scenario.Node) cause {
	if n.Control != "" {
		return cause{
			key: e.id() + " on a control's node", suspect: e.id(), message: fmt.Sprintf("has a pod on %s, which is for the control %s", n.Name, n.Control),
			remedy: "run the test again; if it persists, the pods are not restricted to the recipe's own nodes",
		}
	}
	return v.wrongClass(e, []string{n.Name})
}
