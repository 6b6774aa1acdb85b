package reservation

import (
	"context"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// nights runs the batch of a batch.yaml. It queries the releases each night.
type nights struct {
	*controller.Batch
	config *matrix.Config
	path   string
}

// Plan is the lane of a reservation.
func (n nights) Plan(ctx context.Context, row config.Reservation) (matrix.Lane, error) {
	night, err := controller.NewBatchPlan(ctx, n.config, filepath.Dir(n.path))
	if err != nil {
		return matrix.Lane{}, err
	}
	return night.Lane(row)
}

// Cutoff is the latest start of a cell.
func (n nights) Cutoff(until time.Time) time.Time { return matrix.Cutoff(until, n.config.CellLimit) }

// Run runs a leg.
func (n nights) Run(ctx context.Context, l controller.Leg) ([]matrix.Cell, error) {
	l.Limit = n.config.WorkTimeout()
	return n.Batch.Run(ctx, l)
}
