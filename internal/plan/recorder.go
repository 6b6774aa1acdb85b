package plan

import (
	"fmt"
	"sync"

	"github.com/firstlight/firstlight/internal/check"
)

// recorder is what one attempt of a step records through. It remembers that
// the store failed, whatever the check makes of the error.
type recorder struct {
	wk      *walk
	step    string
	attempt int

	mu     sync.RWMutex // held for reading while a record is being stored
	closed bool

	errMu sync.Mutex
	err   error
}

var _ check.Recorder = (*recorder)(nil)

// Record implements check.Recorder for the check.
func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	if o.Kind == KindPrepare || o.Kind == KindError {
		return o, fmt.Errorf("kind %q is the engine's own", o.Kind)
	}
	return r.keep(o)
}

// keep stores o unless the step is over.
func (r *recorder) keep(o check.Observation) (check.Observation, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return o, errClosed
	}
	if o.Kind == "" {
		return o, fmt.Errorf("an observation of %s on %q has no kind", r.step, o.Target)
	}
	if err := checkFigures(o); err != nil {
		return o, err
	}
	o.Check = r.step
	if o.At.IsZero() {
		o.At = r.wk.now()
	}
	kept, err := r.wk.w.Store.Record(r.attempt, o)
	if err != nil {
		r.errMu.Lock()
		r.err = err
		r.errMu.Unlock()
		return o, fmt.Errorf("store %s on %s: %w", o.Kind, o.Target, err)
	}
	r.wk.tell(Event{Kind: EventObserved, Step: r.step, Text: kept.ID})
	return kept, nil
}

// Progress implements check.Recorder.
func (r *recorder) Progress(format string, args ...any) {
	r.wk.tell(Event{Kind: EventProgress, Step: r.step, Text: fmt.Sprintf(format, args...)})
}

// close waits for records under way and refuses further ones.
func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// broken is the store's error, if it failed.
func (r *recorder) broken() error {
	r.errMu.Lock()
	defer r.errMu.Unlock()
	return r.err
}
