package plan

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Store stores the journal and the observations of a run. It must be safe for concurrent
// use. Every write is durable when its method returns.
type Store interface {
	// Begin journals the start of a step and returns its attempt, from 1. Observations of an
	// earlier attempt are not judged.
	Begin(step string, at time.Time) (attempt int, err error)
	// Record stores one Observation of o.Check and sets its ID.
	Record(attempt int, o check.Observation) (check.Observation, error)
	// Observations returns the observations of an attempt, in order.
	Observations(step string, attempt int) ([]check.Observation, error)
	// Conclude journals a verdict.
	Conclude(r Result) error
}
