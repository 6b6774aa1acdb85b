package chart

import (
	"context"
	"errors"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// Source provides charts.
type Source interface {
	// Kind names the source in one word.
	Kind() string
	// Get fetches a chart. It returns errNotApplicable if the footprint does not refer to this
	// source.
	Get(ctx context.Context, want *model.FootprintChart) (*Chart, error)
}

var errNotApplicable = errors.New("the footprint does not refer to this source")

// Attempt is a source that was tried.
type Attempt struct {
	Source string `json:"source"`
	// Error is the reason of the failure; empty on success.
	Error string `json:"error,omitempty"`
	// From is the origin of the chart.
	From string `json:"from,omitempty"`
}

// Sources are the places to read charts from.
type Sources []Source

// get fetches a chart from the first source that has it; nil if no source has it.
func (s Sources) get(ctx context.Context, want *model.FootprintChart) (*Chart, []Attempt) {
	var attempts []Attempt
	for _, source := range s {
		c, err := source.Get(ctx, want)
		switch {
		case errors.Is(err, errNotApplicable):
		case err != nil:
			attempts = append(attempts, Attempt{Source: source.Kind(), Error: redact(err)})
		default:
			return c, append(attempts, Attempt{Source: source.Kind(), From: c.From})
		}
		if ctx.Err() != nil {
			break
		}
	}
	if len(attempts) == 0 {
		attempts = append(attempts, Attempt{Source: "none", Error: "the footprint names no source for its chart"})
	}
	return nil, attempts
}
