package reservation

import (
	"context"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// nights are batches of what a batch.yaml says; which releases there are is asked each night.
type nights struct {
	*controller.Batch
	config *matrix.Config
	path   string
}

// Plan says what the night runs at a reservation.
func (n nights) Plan(ctx context.Context, row config.Reservation) (matrix.Lane, error) {
	night, err := controller.NewBatchPlan(ctx, n.config, filepath.Dir(n.path))
	if err != nil {
		return matrix.Lane{}, err //nolint:wrapcheck // says what it was doing
	}
	return night.Lane(row) //nolint:wrapcheck // says what it was doing
}

// Cutoff is until when a cell may begin.
func (n nights) Cutoff(until time.Time) time.Time { return matrix.Cutoff(until, n.config.CellLimit) }

// Run does a leg.
func (n nights) Run(ctx context.Context, l controller.Leg) ([]matrix.Cell, error) {
	l.Limit = n.config.WorkTimeout()
	return n.Batch.Run(ctx, l) //nolint:wrapcheck // says what it was doing
}
