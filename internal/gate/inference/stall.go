package inference

import (
	"context"
	"time"
)

// heartbeat is how often the load generator looks whether it gets to run.
const heartbeat = 5 * time.Millisecond

// watchStalls watches this process until the function that it returns is
// called, which tells the longest time for which it did not get to run.
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

// measureAttempts is how often a load is measured when this process stalled.
const measureAttempts = 3

// spoiled says that the figures miss the objective and that the load generator
// itself stalled for longer than it may: then nobody knows whose time it was.
func (g *Gate) spoiled(f LoadFigures) bool {
	if f.ClientStall <= g.profile.Inference.MaxClientStall.Value {
		return false
	}
	m := measure(f.Requests)
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	return len(m.ttft) > 0 && (m.lag > ttft || percentilesOf(m.ttft).P99 > ttft || percentilesOf(m.tpot).P99 > tpot)
}
