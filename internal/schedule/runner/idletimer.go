package runner

import (
	"time"

	"k8s.io/utils/clock"
)

const (
	// steps divide the timeout: while this process does not run (suspended or starved), at
	// most one step passes.
	steps = 10
	// longest is the limit for a scenario that keeps changing, in timeouts.
	longest = 10
)

// idleTimer expires after a time without a change.
type idleTimer struct {
	timer clock.Timer
	step  time.Duration
	// quiet steps have passed since the last change, total since the start.
	quiet, total int
}

func newIdleTimer(c clock.Clock, d time.Duration) *idleTimer {
	return &idleTimer{timer: c.NewTimer(d / steps), step: d / steps}
}

func (p *idleTimer) reset() { p.quiet = 0 }

// over counts a passed step, reports whether it was the last one, and starts the next.
func (p *idleTimer) over() bool {
	p.quiet++
	p.total++
	p.timer.Reset(p.step)
	return p.quiet >= steps || p.total >= steps*longest
}
