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
