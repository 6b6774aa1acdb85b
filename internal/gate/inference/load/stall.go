package load

import (
	"context"
	"time"
)

// heartbeat is the interval at which the load generator checks its own scheduling.
const heartbeat = 5 * time.Millisecond

// watchStalls watches this process until the returned function is called, which returns the
// longest time for which the process was not scheduled.
func watchStalls(ctx context.Context) func() time.Duration {
	ctx, stop := context.WithCancel(ctx)
	longest := make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		last, worst := time.Now(), time.Duration(0)
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				longest <- worst
				return
			}
			now := time.Now()
			worst = max(worst, now.Sub(last)-heartbeat)
			last = now
		}
	}()
	return func() time.Duration {
		stop()
		return <-longest
	}
}
