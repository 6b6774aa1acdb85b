package controller

import (
	"context"
	"sync"
)

// reservationLocks keep hand-overs and cleanings from working on one reservation at once: each
// would report the other's work as a blocker.
type reservationLocks struct {
	mu sync.Mutex
	// tries counts running attempts by reservation; cleaned has a channel per running cleaning,
	// closed at its end.
	tries   map[string]int
	cleaned map[string]chan struct{}
}

// try waits for a running cleaning and prevents further ones until done is called.
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

// clean starts a cleaning, until done is called; ok is false if the reservation is locked.
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
