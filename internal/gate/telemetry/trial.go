package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Metric is the metric that every GPU must have a series of.
const Metric = metric

// mostSettle limits how long SeriesDefects reads series with defects again.
const mostSettle = 45 * time.Second

// SeriesDefects reads the series of the GPUs, without a load, until they have no defect or the time
// in which series settle is over: a scrape may have failed, or have been between two queries. It
// returns the defects, or the error, of the last reading.
func (g *Gate) SeriesDefects(ctx context.Context, p prom.Prometheus) ([]check.Finding, error) {
	var found []check.Finding
	var readErr error
	if g.gang.MIG != nil {
		return []check.Finding{partitioned()}, nil
	}
	err := g.poll(ctx, g.telemetry.ScrapeInterval.D(), min(g.settle(), mostSettle), func(bool) (bool, error) {
		found = nil
		var state seriesFigures
		if state, _, readErr = readSeries(ctx, p); readErr != nil {
			return false, nil //nolint:nilerr // the next reading may succeed; the error of the last one is returned
		}
		for _, d := range g.defects(state, hints{}) {
			found = append(found, check.Finding{Suspect: d.suspect, Message: d.message, Remedy: d.remedy})
		}
		return len(found) == 0, nil
	})
	return found, errors.Join(err, readErr)
}
