package clock

import (
	"context"
	"sync"
	"time"
)

// IdleTracker knows what is in progress and when the next work is due, so that a simulated clock
// can skip idle hours. Its methods are safe for concurrent use.
type IdleTracker struct {
	clock Clock

	mu      sync.Mutex
	working int
	waits   map[int64]time.Time
	dues    map[string]time.Time
	changes int64
}

// NewIdleTracker returns an idle tracker.
func NewIdleTracker(c Clock) *IdleTracker {
	return &IdleTracker{clock: c, waits: map[int64]time.Time{}, dues: map[string]time.Time{}}
}

// Begin counts work in progress until end is called.
func (a *IdleTracker) Begin() (end func()) {
	a.add(1)
	return sync.OnceFunc(func() { a.add(-1) })
}

func (a *IdleTracker) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.working += n
	a.changes++
}

// Waiting marks work in progress as waiting, at most until t, until done is called.
func (a *IdleTracker) Waiting(t time.Time) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.working--
	a.changes++
	id := a.changes
	a.waits[id] = t
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.working++
		a.changes++
		delete(a.waits, id)
	})
}

// Wait waits for a time of day; the caller's work counts as waiting meanwhile.
func (a *IdleTracker) Wait(ctx context.Context, t time.Time) error {
	defer a.Waiting(t)()
	return a.clock.Until(ctx, t)
}

// Set sets the due time of a reservation; zero: none.
func (a *IdleTracker) Set(name string, t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dues[name].Equal(t) {
		return
	}
	a.changes++
	a.dues[name] = t
}

// State reports whether nothing is in progress or due, the next due time, and a number that
// changes with either.
func (a *IdleTracker) State() (idle bool, next time.Time, changes int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, t := range a.waits {
		earlier(t)
	}
	for _, t := range a.dues {
		earlier(t)
	}
	return a.working == 0 && (next.IsZero() || next.After(a.clock.Now())), next, a.changes
}
