package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// way is what was asked about already on the way back to a cause.
type way map[string]bool

func (w way) been(at string) bool {
	if w[at] {
		return true
	}
	w[at] = true
	return false
}

// whyNotThere says why a DaemonSet has no pod that runs on a node.
func (v *view) whyNotThere(e expected, node string, w way) cause {
	if w.been(e.id() + " on " + node) {
		return cause{
			key: e.id() + " circle", suspect: e.id(),
			message: "its nodes get their labels from pods that wait for these labels",
			remedy:  "let it select nodes by a label that is there without it: " + v.set(e, "node selector"),
		}
	}
	if c, ok := v.whyNoPods(e); ok {
		return c
	}
	if missing := mismatch(e.workload.Pod, node, v.has(node)); len(missing) > 0 {
		if c, ok := v.whyUnmet(missing, node, w); ok {
			return c
		}
		return v.notChosen(e, node, missing)
	}
	if taint, tainted := v.untolerated(e, node); tainted {
		var nodes []string
		for _, name := range e.Nodes {
			if t, also := v.untolerated(e, name); also && t.MatchTaint(&taint) {
				nodes = append(nodes, name)
			}
		}
		if len(nodes) == 0 {
			nodes = []string{node}
		}
		return v.hole(e, taint, nodes)
	}
	pods := v.podsOf(e.Expected)
	if left := waiting(pods); len(left) > 0 {
		return v.whyWaiting(e, left, w)
	}
	for _, p := range pods {
		if p.Node == node {
			return notUp(e, p)
		}
	}
	return cause{
		key: e.id() + " no pod", suspect: e.id(),
		message: fmt.Sprintf("its controller made no pod for %s, though nothing keeps one off", v.at([]string{node})),
		remedy:  "run the test again; if it stays, the DaemonSet controller's log in the evidence says why",
	}
}

// whyNoPods says why a workload can't have any pods at all.
func (v *view) whyNoPods(e expected) (cause, bool) {
	seen := v.workloads[e.owner()]
	if len(seen) == 0 {
		return cause{
			key: e.id() + " missing", suspect: e.id(), message: "is not there, though a " + e.Kind + " of this name was asked for",
			remedy: "run the test again; if it stays, what the API server refused is in the evidence",
		}, true
	}
	if trouble := seen[0].Trouble; trouble != "" {
		return cause{
			key: e.id() + " trouble", suspect: e.id(), message: "its controller can't make pods: " + trouble,
			remedy: "remove what the controller names, such as a quota of the namespace, or correct what it refuses in the pod",
		}, true
	}
	return cause{}, false
}

// whyUnmet follows labels that a node should have got.
func (v *view) whyUnmet(missing []unmet, node string, w way) (cause, bool) {
	for _, u := range missing {
		if values, label := u.wanted(); label && !u.there {
			if c, ok := v.whyNoLabel(node, u.Key, values, w); ok {
				return c, true
			}
		}
	}
	return cause{}, false
}

// whyNoLabel says why a node has not got a label that something brings; false where
// nothing does.
func (v *view) whyNoLabel(node, key string, values []string, w way) (cause, bool) {
	if w.been(key + " on " + node) {
		return cause{}, false
	}
	brings := func(labels map[string]string) bool {
		value, ok := labels[key]
		return ok && (values == nil || slices.Contains(values, value))
	}
	n, _ := v.node(node)
	for _, name := range slices.Sorted(maps.Keys(n.Discovered)) {
		if brings(n.Discovered[name]) {
			return v.whyNotFound(n, name, key, w), true
		}
	}
	for _, c := range v.cell.Components {
		for _, p := range c.Publishes {
			if !brings(p.Labels) {
				continue
			}
			return v.whyNotPublished(node, c.Name, key, p, w), true
		}
	}
	return cause{}, false
}

func (v *view) whyNotPublished(node, component, key string, p footprint.Publication, w way) cause {
	missing := ""
	for _, k := range slices.Sorted(maps.Keys(p.OnNodesWith)) {
		if have, ok := v.has(node)[k]; ok && have == p.OnNodesWith[k] {
			continue
		}
		missing = k + "=" + p.OnNodesWith[k]
		if c, ok := v.whyNoLabel(node, k, []string{p.OnNodesWith[k]}, w); ok {
			return c
		}
	}
	if missing != "" {
		n, _ := v.node(node)
		return cause{
			key: component + " waits for " + missing, suspect: component,
			message: fmt.Sprintf("puts its labels on nodes with %s, which nothing brings to %s", missing, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("correct publishes in %s, or discovered in the profile %s", orSome(v.cell.Advice[component].Footprint), v.profile(node)),
		}
	}
	return cause{
		key: component + " publishes " + key, suspect: component,
		message: fmt.Sprintf("has not put %s on %s, though the labels that it waits for are there", key, v.at([]string{node})),
		remedy:  "run the test again; if it stays, what changed labels in the test is in the evidence",
	}
}

// whyNotFound says why a component has not discovered a label on a node.
func (v *view) whyNotFound(n scenario.Node, component, key string, w way) cause {
	finders := v.workloadsOf(component, func(e expected) bool { return e.workload.Discovers })
	if _, there := v.component(component); !there {
		return v.noComponent(component, fmt.Sprintf("would find %s on %s", key, v.at(v.ofShape(n))))
	}
	if len(finders) == 0 {
		return cause{
			key: component + " finds nothing", suspect: component,
			message: fmt.Sprintf("has no pod in this recipe that would find %s on %s", key, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("switch its discovery on in the values of %s (when, in %s)", component, orSome(v.cell.Advice[component].Footprint)),
		}
	}
	for _, e := range finders {
		if !v.runs(e.Expected, n.Name) {
			return v.whyNotThere(e, n.Name, w)
		}
	}
	return cause{
		key: component + " finds " + key, suspect: finders[0].id(),
		message: fmt.Sprintf("runs on %s, and %s has not appeared there", v.at([]string{n.Name}), key),
		remedy:  "run the test again; if it stays, what changed labels in the test is in the evidence",
	}
}
