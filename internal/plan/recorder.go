package plan

import (
	"fmt"
	"strings"
	"sync"

	"github.com/firstlight/firstlight/internal/check"
)

// recorder stores the observations of one attempt of a step. It keeps the store's error even
// if the check ignores it.
type recorder struct {
	run     *execution
	step    string
	attempt int

	mu     sync.RWMutex // held for reading while a record is being stored
	closed bool

	errMu sync.Mutex
	err   error
}

// Record implements check.Recorder for the check.
func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	if o.Kind == KindPrepare || o.Kind == KindError || strings.HasPrefix(o.Kind, PreparedPrefix) {
		return o, fmt.Errorf("invalid kind %q: reserved for the engine", o.Kind)
	}
	return r.store(o)
}

// prepareRecorder records the observations of an ObservingPrepare.
type prepareRecorder struct{ *recorder }

// Record implements check.Recorder for a preparation.
func (r prepareRecorder) Record(o check.Observation) (check.Observation, error) {
	if !strings.HasPrefix(o.Kind, PreparedPrefix) {
		return o, fmt.Errorf("invalid kind %q of a preparation: must begin with %s", o.Kind, PreparedPrefix)
	}
	return r.store(o)
}

// store stores o unless the step is over.
func (r *recorder) store(o check.Observation) (check.Observation, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return o, errClosed
	}
	if o.Kind == "" {
		return o, fmt.Errorf("invalid observation of %s on %q: must have a kind", r.step, o.Target)
	}
	if err := checkFigures(o); err != nil {
		return o, err
	}
	o.Check = r.step
	if o.At.IsZero() {
		o.At = r.run.now()
	}
	stored, err := r.run.executor.Store.Record(r.attempt, o)
	if err != nil {
		r.errMu.Lock()
		r.err = err
		r.errMu.Unlock()
		return o, fmt.Errorf("store %s on %s: %w", o.Kind, o.Target, err)
	}
	r.run.tell(Event{Kind: EventObserved, Step: r.step, Text: stored.ID})
	return stored, nil
}

// Progress implements check.Recorder.
func (r *recorder) Progress(format string, args ...any) {
	r.run.tell(Event{Kind: EventProgress, Step: r.step, Text: fmt.Sprintf(format, args...)})
}

// close waits for pending records and refuses further ones.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// broken is the store's error.
func (r *recorder) broken() error {
	r.errMu.Lock()
	defer r.errMu.Unlock()
	return r.err
}
