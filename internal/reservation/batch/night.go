package batch

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/floors"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
)

// Night is what one batch is made of: the file, the releases that there are, the floors.
type Night struct {
	Config   *matrix.Config
	Tags     []string
	Versions []string
	Floors   *floors.Floors
}

// Prepare reads batch.yaml and what it names, and asks which releases there are.
func Prepare(ctx context.Context, path string) (*Night, error) {
	c, err := matrix.Load(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return PrepareOf(ctx, c, filepath.Dir(path))
}

// PrepareOf is Prepare of a file that was read, whose paths are relative to dir.
func PrepareOf(ctx context.Context, c *matrix.Config, dir string) (*Night, error) {
	n := &Night{Config: c, Floors: &floors.Floors{}}
	var err error
	if c.Compat != "" {
		if n.Floors, err = floors.Load(within(dir, c.Compat)); err != nil {
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

func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Lane is what the night runs at a reservation.
func (n *Night) Lane(row registry.Reservation) (matrix.Lane, error) {
	return matrix.Cells(row, n.Versions, matrix.Floors{Floors: n.Floors, Tags: n.Tags}) //nolint:wrapcheck // names the reservation
}

// Cutoff is until when cells may begin in a window that ends then.
func (n *Night) Cutoff(until time.Time) time.Time { return matrix.Cutoff(until, n.Config.CellLimit) }
