package cli

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/batch"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/releases"
)

// nights are batches of what a batch.yaml says.
type nights struct {
	*batch.Batch
	source releases.Source
}

// Plan says what the night runs at a reservation.
func (n nights) Plan(ctx context.Context, row registry.Reservation) ([]matrix.Cell, error) {
	lane, err := n.source.Lane(ctx, row)
	return lane.Cells, err //nolint:wrapcheck // says what it was doing
}

// Cutoff is until when a cell may begin.
func (n nights) Cutoff(until time.Time) time.Time {
	return matrix.Cutoff(until, n.source.Config.CellLimit)
}

// Run does a leg.
func (n nights) Run(ctx context.Context, l batch.Leg) ([]matrix.Cell, error) {
	l.Limit = n.source.Config.Work()
	return n.Batch.Run(ctx, l) //nolint:wrapcheck // says what it was doing
}
