package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// judgeMatchers reports whether the matchers are, or may be, the reason why series are missing: then
// nothing was observed of this cluster.
func (g *Gate) judgeMatchers(b *check.Builder, obs []check.Observation) bool {
	f, o, ok := check.RequireLast[otherFigures](b, obs, kindOthers, "", "telemetry.matchers", prometheusRemedy)
	if !ok {
		return true
	}
	if len(f.Groups) == 0 {
		return false
	}
	var groups []string
	for _, group := range f.Groups {
		groups = append(groups, fmt.Sprintf("%g with %s", group.Series, labelText(group.Labels)))
	}
	slices.Sort(groups)
	b.Unobserved(o.ID, "telemetry.matchers", "correct telemetry.matchers in the site file, or the external labels of this cluster's Prometheus",
		"select no series %s: no series has the labels %s; there are %s", metric, labelText(g.telemetry.Matchers), strings.Join(groups, ", "))
	return true
}

func labelText(labels map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, fmt.Sprintf("%s=%q", name, labels[name]))
	}
	if len(out) == 0 {
		return "none of the labels"
	}
	return strings.Join(out, ", ")
}
