package inference

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// await calls read until done reports true, ctx ends, or timeout. It returns the last value;
// the error is set only if every read failed.
func await[T any](ctx context.Context, timeout time.Duration, read func(context.Context) (T, error), done func(T) bool) (last T, failed error) {
	succeeded := false
	_ = wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		v, err := read(ctx)
		if err != nil {
			if !succeeded && (ctx.Err() == nil || failed == nil) {
				failed = err
			}
			return false, nil
		}
		last, succeeded, failed = v, true, nil
		return done(v), nil
	})
	return last, failed
}
