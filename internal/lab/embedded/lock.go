package embedded

import (
	"context"
	"fmt"
)

// lock is a mutex whose waiters can give up: a change of faults holds it for minutes.
type lock chan struct{}

func newLock() lock { return make(lock, 1) }

// LockContext locks l, or returns an error when ctx has ended.
func (l lock) LockContext(ctx context.Context) error {
	if ctx.Err() == nil {
		select {
		case l <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("wait for the start of the lab, or for another change of its faults: %w", context.Cause(ctx))
}

// Lock locks l.
func (l lock) Lock() { l <- struct{}{} }

// Unlock unlocks l, which is locked.
func (l lock) Unlock() { <-l }
