package plan

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Store stores the journal and the observations of a run. It must be safe for concurrent
// use. Every write is durable when its method returns.
type Store interface {
	// Begin journals the start of a step and returns its attempt, from 1. Its verdict is
	// judged from its own observations only.
	Begin(step string, at time.Time) (attempt int, err error)
	// Record stores one Observation of o.Check and sets its ID.
	Record(attempt int, o check.Observation) (check.Observation, error)
	// Observations returns the observations of an attempt, in order.
	Observations(step string, attempt int) ([]check.Observation, error)
	// Conclude journals a verdict.
	Conclude(r Result) error
	// Abandoned is the attempt of a step that was begun and has no verdict; 0: none.
	Abandoned(step string) (attempt int)
	// Abandon journals the judgement of an abandoned attempt, which is not the verdict of its step.
	Abandon(r Result) error
}
