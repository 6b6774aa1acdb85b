// Package agenda knows what is being worked on, and until when everything else waits: so
// that a clock can jump over the hours in which nothing is due.
package clock

import (
	"context"
	"sync"
	"time"
)

// Agenda is what somebody has to do. Its methods may be called from many goroutines.
type IdleTracker struct {
	clock Clock

	mu      sync.Mutex
	working int
	waits   map[int64]time.Time
	dues    map[string]time.Time
	changes int64
}

// New makes an agenda that is empty.
func NewIdleTracker(c Clock) *IdleTracker {
	return &IdleTracker{clock: c, waits: map[int64]time.Time{}, dues: map[string]time.Time{}}
}

// Begin notes that something is being worked on, until the answer is called.
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

// Waiting notes that somebody at work waits for others, at the longest until t.
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

// Wait is for a time of day; who waits was at work and is again.
func (a *IdleTracker) Wait(ctx context.Context, t time.Time) error {
	defer a.Waiting(t)()
	return a.clock.Until(ctx, t) //nolint:wrapcheck // the cause of the context's end
}

// Set notes when something is due at a reservation; zero: nothing is.
func (a *IdleTracker) Set(name string, t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dues[name].Equal(t) {
		return
	}
	a.changes++
	a.dues[name] = t
}

// State tells whether nothing is being worked on and nothing is due, what is due next, and
// a number that changes with either.
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
