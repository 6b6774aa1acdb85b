package autoscale

import "time"

// longestLook is the most that one look counts: looks are lookEvery apart, and a state takes
// some time to judge.
const longestLook = time.Second

// patience counts the time in which a hop was looked at. A process that is not scheduled, or a
// machine that sleeps, neither looks nor follows its watches: that time is not held against the
// cluster. The zero value has not begun.
type patience struct {
	last   time.Time
	waited time.Duration
}

// look counts the time since the previous look, and returns the sum.
func (p *patience) look(now time.Time) time.Duration {
	if !p.last.IsZero() {
		p.waited += min(now.Sub(p.last), longestLook)
	}
	p.last = now
	return p.waited
}
