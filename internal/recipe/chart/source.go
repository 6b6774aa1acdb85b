package chart

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Source is where charts may be had.
type Source interface {
	// Kind is one word for it.
	Kind() string
	// Get fetches a chart. The error is errElsewhere when the source has nothing to
	// do with this chart.
	Get(ctx context.Context, want *model.FootprintChart) (*Chart, error)
}

// errElsewhere says that a source is none of this chart.
var errElsewhere = errors.New("the chart is not there by its footprint")

// Attempt is a source that was tried.
type Attempt struct {
	Source string `json:"source"`
	// Error says why it failed; empty: the chart was had there.
	Error string `json:"error,omitempty"`
	// From is what was read.
	From string `json:"from,omitempty"`
}

// Sources are tried in order.
type Sources []Source

// get fetches a chart from the first source that has it; it is nil when none has.
func (s Sources) get(ctx context.Context, want *model.FootprintChart) (*Chart, []Attempt) {
	var attempts []Attempt
	for _, source := range s {
		c, err := source.Get(ctx, want)
		switch {
		case errors.Is(err, errElsewhere):
		case err != nil:
			attempts = append(attempts, Attempt{Source: source.Kind(), Error: scrub(err)})
		default:
			return c, append(attempts, Attempt{Source: source.Kind(), From: c.From})
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(attempts) == 0 {
		attempts = append(attempts, Attempt{Source: "none", Error: "the footprint names no place where the chart is"})
	}
	return nil, attempts
}
