package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
)

// visited guards the search for a root cause against cycles.
type visited map[string]bool

func (w visited) seenBefore(at string) bool {
	if w[at] {
		return true
	}
	w[at] = true
	return false
}

// whyNotRunning returns why a DaemonSet has no running pod on a node.
func (v *view) whyNotRunning(e expected, node string, w visited) cause {
	if w.seenBefore(e.id() + " on " + node) {
		return cause{
			key: e.id() + " circle", suspect: e.id(),
			message: "its nodes get their labels from pods that wait for these labels",
			remedy:  "let it select nodes by a label that does not depend on it: " + v.setRemedy(e, "node selector"),
		}
	}
	if c, ok := v.whyNoPods(e); ok {
		return c
	}
	if missing := mismatch(e.workload.Pod, node, v.has(node)); len(missing) > 0 {
		if c, ok := v.whyLabelMissing(missing, node, w); ok {
			return c
		}
		return v.notSelected(e, node, missing)
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
		return v.uncoveredTaint(e, taint, nodes)
	}
	pods := v.podsOf(e.Expected)
	if left := waiting(pods); len(left) > 0 {
		return v.whyWaiting(e, left, w)
	}
	for _, p := range pods {
		if p.Node == node {
			return badPhase(e, p)
		}
	}
	return cause{
		key: e.id() + " no pod", suspect: e.id(),
		message: fmt.Sprintf("its controller created no pod for %s for no known reason", v.at([]string{node})),
		remedy:  "run the test again; if it persists, see the DaemonSet controller's log in the evidence",
	}
}

// whyNoPods returns why a workload cannot have any pods.
func (v *view) whyNoPods(e expected) (cause, bool) {
	seen := v.workloads[e.owner()]
	if len(seen) == 0 {
		return cause{
			key: e.id() + " missing", suspect: e.id(), message: "not found, although a " + e.Kind + " of this name was created",
			remedy: "run the test again; if it persists, see in the evidence what the API server rejected",
		}, true
	}
	if trouble := seen[0].Trouble; trouble != "" {
		return cause{
			key: e.id() + " trouble", suspect: e.id(), message: "its controller cannot create pods: " + trouble,
			remedy: "correct the cause that the controller reports, such as a quota of the namespace or an invalid pod",
		}, true
	}
	return cause{}, false
}

// whyLabelMissing traces the labels that a node should have.
func (v *view) whyLabelMissing(missing []unmet, node string, w visited) (cause, bool) {
	for _, u := range missing {
		if values, label := u.wanted(); label && !u.there {
			if c, ok := v.findLabelCause(node, u.Key, values, w); ok {
				return c, true
			}
		}
	}
	return cause{}, false
}

// findLabelCause returns why a node lacks a label that a component sets; false where no
// component sets it.
func (v *view) findLabelCause(node, key string, values []string, w visited) (cause, bool) {
	if w.seenBefore(key + " on " + node) {
		return cause{}, false
	}
	brings := func(labels map[string]string) bool {
		value, ok := labels[key]
		return ok && (values == nil || slices.Contains(values, value))
	}
	n, _ := v.node(node)
	for _, name := range slices.Sorted(maps.Keys(n.Discovered)) {
		if brings(n.Discovered[name]) {
			return v.whyNotDiscovered(n, name, key, w), true
		}
	}
	for _, c := range v.scenario.Components {
		for _, p := range c.Publishes {
			if !brings(p.Labels) {
				continue
			}
			return v.whyNotPublished(node, c.Name, key, p, w), true
		}
	}
	return cause{}, false
}

func (v *view) whyNotPublished(node, component, key string, p footprint.Publication, w visited) cause {
	missing := ""
	for _, k := range slices.Sorted(maps.Keys(p.OnNodesWith)) {
		if have, ok := v.has(node)[k]; ok && have == p.OnNodesWith[k] {
			continue
		}
		missing = k + "=" + p.OnNodesWith[k]
		if c, ok := v.findLabelCause(node, k, []string{p.OnNodesWith[k]}, w); ok {
			return c
		}
	}
	if missing != "" {
		n, _ := v.node(node)
		return cause{
			key: component + " waits for " + missing, suspect: component,
			message: fmt.Sprintf("sets its labels on nodes with %s, which no component sets on %s", missing, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("correct publishes in %s, or discovered in the profile %s", fileOr(v.scenario.Advice[component].Footprint), v.profile(node)),
		}
	}
	return cause{
		key: component + " publishes " + key, suspect: component,
		message: fmt.Sprintf("has not set %s on %s, although the labels that it waits for exist", key, v.at([]string{node})),
		remedy:  "run the test again; if it persists, see in the evidence which client changes labels",
	}
}

// whyNotDiscovered returns why a component has not discovered a label on a node.
func (v *view) whyNotDiscovered(n scenario.Node, component, key string, w visited) cause {
	finders := v.workloadsOf(component, func(e expected) bool { return e.workload.Discovers })
	if _, there := v.component(component); !there {
		return v.noComponent(component, fmt.Sprintf("discover %s on %s", key, v.at(v.ofShape(n))))
	}
	if len(finders) == 0 {
		return cause{
			key: component + " finds nothing", suspect: component,
			message: fmt.Sprintf("has no pod in this recipe that would discover %s on %s", key, v.at(v.ofShape(n))),
			remedy:  fmt.Sprintf("enable its discovery in the values of %s (when, in %s)", component, fileOr(v.scenario.Advice[component].Footprint)),
		}
	}
	for _, e := range finders {
		if !v.runs(e.Expected, n.Name) {
			return v.whyNotRunning(e, n.Name, w)
		}
	}
	return cause{
		key: component + " finds " + key, suspect: finders[0].id(),
		message: fmt.Sprintf("runs on %s, but %s has not appeared there", v.at([]string{n.Name}), key),
		remedy:  "run the test again; if it persists, see in the evidence which client changes labels",
	}
}
