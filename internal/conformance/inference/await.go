package inference

import (
	"context"
	"time"
)

// await looks until ok says yes, ctx ends, or so long is over. It returns what was
// seen last; the error says why nothing was seen, if nothing ever was.
func await[T any](ctx context.Context, within time.Duration, look func(context.Context) (T, error), ok func(T) bool) (T, error) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(between)
	defer tick.Stop()
	var last T
	seen := false
	var unseen error
	for {
		now, err := look(limited)
		switch {
		case err == nil:
			last, seen = now, true
			if ok(now) {
				return now, nil
			}
		case limited.Err() == nil || unseen == nil:
			unseen = err
		}
		select {
		case <-limited.Done():
			if seen {
				unseen = nil
			}
			return last, unseen
		case <-tick.C:
		}
	}
}
