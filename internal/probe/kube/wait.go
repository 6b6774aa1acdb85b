package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
)

// listInterval is the pause between two lists of objects that are being removed.
const listInterval = 200 * time.Millisecond

// waitUntilEmpty lists objects, at an interval, until count is 0. It returns the error of list, or the
// cause of the end of ctx.
func waitUntilEmpty(ctx context.Context, what string, list func(ctx context.Context) (count int, err error)) error {
	return poll.Until(ctx, listInterval, what, func(ctx context.Context) error {
		count, err := list(ctx)
		switch {
		case err != nil:
			return poll.Stop(err)
		case count > 0:
			return fmt.Errorf("%d left", count)
		}
		return nil
	})
}
