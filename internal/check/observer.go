package check

import (
	"fmt"

	"k8s.io/utils/clock"
)

// Observer records observations of one check with the time each took.
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
}

// Raw adds the output as it came.
func (a Attempt) Raw(raw []byte) Attempt {
	a.o.Raw = raw
	return a
}

// Record stores figures, or err where nothing could be seen. The returned error is the
// store's.
func (a Attempt) Record(figures any, err error) error {
	_, failed := a.Store(figures, err)
	return failed
}

// Store is Record for callers that need the stored observation.
func (a Attempt) Store(figures any, err error) (Observation, error) {
	a.o.Took = a.observer.Clock.Since(a.o.At)
	if err != nil {
		a.o.Err = err.Error()
	} else {
		var failed error
		if a.o, failed = a.o.WithFigures(figures); failed != nil {
			return a.o, fmt.Errorf("record %s: %w", a.o.Kind, failed)
		}
	}
	o, failed := a.observer.Recorder.Record(a.o)
	if failed != nil {
		return o, fmt.Errorf("record %s: %w", a.o.Kind, failed)
	}
	return o, nil
}
