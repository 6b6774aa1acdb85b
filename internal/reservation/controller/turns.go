package controller

import (
	"context"
	"sync"
)

// turns keep a hand-over and the cleaning of the sweep from working at the same
// reservation: one would find the other's work in its way, and report that as what
// blocked it.
type reservationLocks struct {
	mu sync.Mutex
	// tries counts the attempts of hand-overs by reservation, cleaned has a channel for
	// each that is being cleaned, closed at the end of that.
	tries   map[string]int
	cleaned map[string]chan struct{}
}

// try waits until the reservation is not being cleaned, and keeps it from being cleaned
// until done is called.
func (t *reservationLocks) try(ctx context.Context, name string) (done func(), err error) {
	for {
		t.mu.Lock()
		cleaned := t.cleaned[name]
		if cleaned == nil {
			if t.tries == nil {
				t.tries = map[string]int{}
			}
			t.tries[name]++
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.tries[name]--
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-cleaned:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// clean begins to clean a reservation, until done is called; ok is false where a
// hand-over or another cleaning works at it.
func (t *reservationLocks) clean(name string) (done func(), ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tries[name] > 0 || t.cleaned[name] != nil {
		return nil, false
	}
	if t.cleaned == nil {
		t.cleaned = map[string]chan struct{}{}
	}
	cleaned := make(chan struct{})
	t.cleaned[name] = cleaned
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.cleaned, name)
		close(cleaned)
	}, true
}
