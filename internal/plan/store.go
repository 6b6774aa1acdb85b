package plan

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Store keeps what a walk leaves. It is used from several goroutines. Whatever
// it is given is durable when the method returns.
type Store interface {
	// Begin journals that a step starts, and counts its attempts from 1: a
	// step that is begun again does not judge what an earlier attempt saw.
	Begin(step string, at time.Time) (attempt int, err error)
	// Record keeps one Observation of o.Check and sets its ID.
	Record(attempt int, o check.Observation) (check.Observation, error)
	// Observations reads back what was recorded in an attempt, in order.
	Observations(step string, attempt int) ([]check.Observation, error)
	// Conclude journals a verdict.
	Conclude(r Result) error
}
