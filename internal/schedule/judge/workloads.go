package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// flaw is one that the recipe has whatever was seen. What chooses nothing because
// a label never came follows from that.
func (v *view) flaw(c cause) {
	v.found.because(v.rootOf(c), c.suspect, "%s", c.message)
}

// rootOf is what a flaw follows from; itself, where that is nothing.
func (v *view) rootOf(c cause) cause {
	for _, e := range v.expected {
		if c.key != v.nowhere(e).key || len(e.Nodes) > 0 {
			continue
		}
		for _, n := range v.cell.Own(e.Class) {
			if root, ok := v.whyNotOn(e, n, way{e.id() + " on " + n.Name: true}); ok {
				return root
			}
		}
	}
	return c
}

// whyNotOn follows what a node never gets, and a workload's pods need.
func (v *view) whyNotOn(e expected, n scenario.Node, w way) (cause, bool) {
	if c, ok := v.whyUnmet(mismatch(e.workload.Pod, n.Name, v.has(n.Name)), n.Name, w); ok {
		return c, true
	}
	for _, resource := range v.neverOffers(n, e.workload.Pod) {
		if c, ok := v.whyNoResource(n.Name, resource, w); ok {
			return c, true
		}
	}
	return cause{}, false
}

// judgeAccount holds a controller's own account against its pods.
func (v *view) judgeAccount(e expected) {
	list := v.workloads[e.owner()]
	if c, none := v.whyNoPods(e); none {
		v.found.add(c)
		return
	}
	if len(list) > 1 {
		v.found.add(cause{key: e.id() + " twice", suspect: e.id(), message: fmt.Sprintf("is there %d times", len(list)), remedy: "run the test again"})
	}
	w := list[0]
	if w.Kind == "Job" {
		return // its status counts what is active, and nothing when it is done
	}
	if w.ObservedGeneration < w.Generation {
		v.unseen = append(v.unseen, fmt.Sprintf("the controller of %s has seen generation %d of %d", e.id(), w.ObservedGeneration, w.Generation))
	}
	if n := len(v.podsOf(e.Expected)); int(w.Desired) != n || int(w.Made) != n {
		v.unseen = append(v.unseen, fmt.Sprintf("the controller of %s wants %d pods and counts %d, there are %d", e.id(), w.Desired, w.Made, n))
	}
}

// judgeDaemonSet: a pod on each of its nodes, and on no other.
func (v *view) judgeDaemonSet(e expected) {
	byCause := map[string][]string{}
	causes := map[string]cause{}
	missing := 0
	for _, node := range e.Nodes {
		if v.runs(e.Expected, node) {
			continue
		}
		missing++
		c := v.whyNotThere(e, node, way{})
		causes[c.key] = c
		byCause[c.key] = append(byCause[c.key], node)
	}
	for _, key := range slices.Sorted(maps.Keys(causes)) {
		v.found.because(causes[key], e.id(), "has no pod that runs on %s", v.at(byCause[key]))
	}
	if left := waiting(v.podsOf(e.Expected)); len(left) > missing {
		v.found.add(v.whyWaiting(e, left, way{}))
	}
	on := map[string]int{}
	for _, p := range v.podsOf(e.Expected) {
		v.judgePlace(e, p)
		on[p.Node]++
		n, ours := v.node(p.Node)
		if p.Node == "" || !ours || !allowed(e.Class, n) {
			continue // judged by its place
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
		key: e.id() + " too many", suspect: e.id(), message: fmt.Sprintf("has %d pods on %s, where its selector gives it %d", pods, v.at([]string{node}), want),
		remedy: "run the test again; if it stays, its node selector is not what the footprint says",
	}
}

// judgeReplicas: as many pods as there have to be, each on a node of its class.
func (v *view) judgeReplicas(e expected) {
	pods := v.podsOf(e.Expected)
	if left := waiting(pods); len(left) > 0 {
		c := v.whyWaiting(e, left, way{})
		v.found.because(c, e.id(), "%d of %d pods are Pending; the scheduler: %s", len(left), e.Pods, words(answer(left)))
	}
	if _, none := v.whyNoPods(e); len(pods) != e.Pods && !none {
		v.found.add(cause{
			key: e.id() + " count", suspect: e.id(), message: fmt.Sprintf("has %d pods, and has to have %d", len(pods), e.Pods),
			remedy: "run the test again; if it stays, its controller's log in the evidence says why",
		})
	}
	for _, p := range pods {
		v.judgePlace(e, p)
	}
}

// judgePlace: a bound pod is up, on a node of its class, and only asks for devices
// where they are.
func (v *view) judgePlace(e expected, p *snapshot.Pod) {
	if p.Node == "" {
		if p.Phase == "Failed" {
			v.found.add(notUp(e, p))
		}
		return
	}
	if !up(p) {
		v.found.add(notUp(e, p))
	}
	n, ours := v.node(p.Node)
	switch {
	case !ours:
		v.found.add(cause{
			key: e.id() + " elsewhere", suspect: e.id(), message: fmt.Sprintf("its pod %s is on %s, which is none of the recipe's nodes", p.Name, p.Node),
			remedy: "run the test again; if it stays, the pods are not held to their cell",
		})
	case !allowed(e.Class, n):
		v.found.add(v.misplaced(e, n))
	case n.Class != footprint.Accelerated && len(devices(e.workload.Pod)) > 0:
		v.found.add(cause{
			key: e.id() + " devices", suspect: e.id(), message: fmt.Sprintf("asks for devices of GPU nodes, and its pod is on %s", v.at([]string{n.Name})),
			remedy: "let it select GPU nodes: " + v.set(e, "node selector"),
		})
	}
}

// misplaced is a pod on a node of the wrong class; where that could be told before,
// it is the same cause.
func (v *view) misplaced(e expected, n scenario.Node) cause {
	if n.Control != "" {
		return cause{
			key: e.id() + " on a control's node", suspect: e.id(), message: fmt.Sprintf("has a pod on %s, which is for the control %s", n.Name, n.Control),
			remedy: "run the test again; if it stays, the pods are not held to the recipe's own nodes",
		}
	}
	return v.offClass(e, []string{n.Name})
}
