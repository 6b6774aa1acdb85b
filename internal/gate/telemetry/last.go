package telemetry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// lookBack is the range in which the last sample of a missing series is searched.
const lookBack = time.Hour

// observeLast records the time of the last sample of each exporter, also of series that
// Prometheus has dropped.
func (g *Gate) observeLast(ctx context.Context, p prom.Prometheus, rec check.Recorder) error {
	expr := fmt.Sprintf("max by (Hostname, hostname, node) (max_over_time(timestamp(%s)[%ds:%dms]))",
		metric, int(lookBack.Seconds()), g.telemetry.ScrapeInterval.D().Milliseconds())
	attempt := g.begin(rec, kindLastSamples, p.Name(), "query "+p.Expr(expr))
	samples, raw, err := p.Query(ctx, expr, time.Time{})
	figures := lastFigures{}
	for _, s := range samples {
		figures.Now = s.At
		figures.Last = append(figures.Last, readLast(s))
	}
	return attempt.Raw(raw).Record(figures, err)
}

func readLast(s prom.Sample) lastSample {
	out := lastSample{At: time.UnixMilli(int64(s.Value * 1000)).UTC()}
	for name, value := range s.Labels {
		switch {
		case strings.EqualFold(name, "hostname"):
			out.Host = value
		case name == "node":
			out.Node = value
		}
	}
	return out
}
