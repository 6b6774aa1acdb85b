package controller

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// Night is what one batch is made of: the file, the releases that there are, the floors.
type BatchPlan struct {
	Config   *matrix.Config
	Tags     []string
	Versions []string
	Compat   *config.Compat
}

// Prepare reads batch.yaml and what it names, and asks which releases there are.
func LoadBatchPlan(ctx context.Context, path string) (*BatchPlan, error) {
	c, err := matrix.Load(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return NewBatchPlan(ctx, c, filepath.Dir(path))
}

// PrepareOf is Prepare of a file that was read, whose paths are relative to dir.
func NewBatchPlan(ctx context.Context, c *matrix.Config, dir string) (*BatchPlan, error) {
	n := &BatchPlan{Config: c, Compat: &config.Compat{}}
	var err error
	if c.Compat != "" {
		if n.Compat, err = config.LoadCompat(resolvePath(dir, c.Compat)); err != nil {
			return nil, err //nolint:wrapcheck // names the file
		}
	}
	if c.Previous > 0 {
		if n.Tags, err = tags(ctx, c.Releases, dir); err != nil {
			return nil, fmt.Errorf("see which releases there are: %w", err)
		}
	}
	n.Versions, err = matrix.Versions(c, n.Tags)
	return n, err //nolint:wrapcheck // says what is missing
}

func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Lane is what the night runs at a reservation.
func (n *BatchPlan) Lane(row config.Reservation) (matrix.Lane, error) {
	return matrix.Cells(row, n.Versions, matrix.Compat{Compat: n.Compat, Tags: n.Tags}) //nolint:wrapcheck // names the reservation
}

// Cutoff is until when cells may begin in a window that ends then.
func (n *BatchPlan) Cutoff(until time.Time) time.Time { return matrix.Cutoff(until, n.Config.CellLimit) }
