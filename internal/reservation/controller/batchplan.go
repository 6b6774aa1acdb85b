package controller

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// BatchPlan is the input of a batch: batch.yaml, the existing releases and the compat floors.
type BatchPlan struct {
	Config   *matrix.Config
	Tags     []string
	Versions []string
	Compat   *config.Compat
}

// NewBatchPlan reads the files that batch.yaml names, relative to dir, and lists the releases.
func NewBatchPlan(ctx context.Context, c *matrix.Config, dir string) (*BatchPlan, error) {
	n := &BatchPlan{Config: c, Compat: &config.Compat{}}
	var err error
	if c.Compat != "" {
		if n.Compat, err = config.LoadCompat(resolvePath(dir, c.Compat)); err != nil {
			return nil, err
		}
	}
	if c.Previous > 0 {
		if n.Tags, err = tags(ctx, c.Releases, dir); err != nil {
			return nil, fmt.Errorf("list releases: %w", err)
		}
	}
	n.Versions, err = matrix.Versions(c, n.Tags)
	return n, err
}

func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Lane returns the cells of a reservation.
func (n *BatchPlan) Lane(row config.Reservation) (matrix.Lane, error) {
	return matrix.Cells(row, n.Versions, matrix.Compat{Compat: n.Compat, Tags: n.Tags})
}

// Cutoff returns the latest start of a cell in a window.
func (n *BatchPlan) Cutoff(until time.Time) time.Time {
	return matrix.Cutoff(until, n.Config.CellLimit)
}
