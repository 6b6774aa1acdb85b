package telemetry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// otherFigures are the series of the metric without the site's matchers, by the values of the
// labels that the matchers name.
type otherFigures struct {
	Groups []otherGroup `json:"groups"`
}

type otherGroup struct {
	// Labels lacks a label that the series do not have.
	Labels map[string]string `json:"labels"`
	Series float64           `json:"series"`
}

// observeOthers records, when the site's matchers select nothing, which series there are without
// them.
func (g *Gate) observeOthers(ctx context.Context, p prom.Prometheus, rec check.Recorder) error {
	if len(g.telemetry.Matchers) == 0 {
		return nil
	}
	expr := fmt.Sprintf("count by (%s) (%s)", strings.Join(slices.Sorted(maps.Keys(g.telemetry.Matchers)), ", "), metric)
	attempt := g.begin(rec, kindOthers, p.Name(), "query "+expr)
	samples, raw, err := p.All().Query(ctx, expr, time.Time{})
	var figures otherFigures
	for _, s := range samples {
		figures.Groups = append(figures.Groups, otherGroup{Labels: s.Labels, Series: s.Value})
	}
	return attempt.Raw(raw).Record(figures, err)
}

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
