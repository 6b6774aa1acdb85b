package lab

import (
	"context"
	"fmt"
	"time"
)

// pollEvery is the pause between two looks at a condition.
const pollEvery = 50 * time.Millisecond

// poll asks until cond answers true or ctx ends. What cond last complained of
// is in the error: a wait that times out must say what it was waiting for.
func poll(ctx context.Context, what string, cond func(ctx context.Context) (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var last error
	for {
		ok, err := cond(ctx)
		if ok {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("wait for %s: %w (last: %w)", what, context.Cause(ctx), last)
			}
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
}
