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

// LoadBatchPlan reads batch.yaml and the files in it, and lists the releases.
func LoadBatchPlan(ctx context.Context, path string) (*BatchPlan, error) {
	c, err := matrix.Load(path)
	if err != nil {
		return nil, err
	}
	return NewBatchPlan(ctx, c, filepath.Dir(path))
}

// NewBatchPlan is LoadBatchPlan for a parsed file whose paths are relative to dir.
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
