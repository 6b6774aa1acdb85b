package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
)

// Observer records observations of one check with their start time and duration.
type Observer struct {
	Recorder
	Clock clock.PassiveClock
}

// Begin starts an observation now. command is the command line or API call, without secrets.
func (r Observer) Begin(kind, target, command string) Attempt {
	return Attempt{observer: r, o: Observation{Kind: kind, Target: target, Command: command, At: r.Clock.Now()}}
}

// Attempt is an observation that is being made.
type Attempt struct {
	observer Observer
	o        Observation
	// took is the duration if Ran has set it.
	took *time.Duration
}

// Raw adds the unparsed output.
func (a Attempt) Raw(raw []byte) Attempt {
	a.o.Raw = raw
	return a
}

// From adds where the command ran.
func (a Attempt) From(origin string) Attempt {
	a.o.Origin = origin
	return a
}

// Ran replaces start and duration, for what another program or goroutine has timed.
func (a Attempt) Ran(began time.Time, took time.Duration) Attempt {
	a.o.At, a.took = began, &took
	return a
}

// Exit adds the exit code of a command.
func (a Attempt) Exit(code int) Attempt {
	a.o.Exit = &code
	return a
}

// Elapsed is the time since the observation began.
func (a Attempt) Elapsed() time.Duration { return a.observer.Clock.Since(a.o.At) }

// Record stores figures, or err instead of figures. The returned error is the store's.
func (a Attempt) Record(figures any, err error) error {
	_, failed := a.Store(figures, err)
	return failed
}

// RecordPartial stores figures together with err: Decode returns err, the figures remain in
// the evidence.
func (a Attempt) RecordPartial(figures any, err error) error {
	if err == nil {
		return a.Record(figures, nil)
	}
	var failed error
	if a.o, failed = a.o.WithFigures(figures); failed != nil {
		return fmt.Errorf("record %s: %w", a.o.Kind, failed)
	}
	return a.Record(nil, err)
}

// Store is Record for callers that need the stored observation.
func (a Attempt) Store(figures any, err error) (Observation, error) {
	if a.o.Took.Duration = a.Elapsed(); a.took != nil {
		a.o.Took.Duration = *a.took
	}
	if err != nil {
		a.o.Err, a.o.APIReason = err.Error(), apierrors.ReasonForError(err)
	} else {
		var failed error
		var number *json.UnsupportedValueError
		switch a.o, failed = a.o.WithFigures(figures); {
		case errors.As(failed, &number): // NaN or an infinity: this observation has no figures, the others are made
			a.o.Err = failed.Error()
		case failed != nil:
			return a.o, fmt.Errorf("record %s: %w", a.o.Kind, failed)
		}
	}
	o, failed := a.observer.Record(a.o)
	if failed != nil {
		return o, fmt.Errorf("record %s: %w", a.o.Kind, failed)
	}
	return o, nil
}
