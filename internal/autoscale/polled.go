package autoscale

import "time"

// longestPoll is the most that one poll counts: polls are lookEvery apart, and a state takes
// some time to judge.
const longestPoll = time.Second

// polled is the time in which a hop was polled. While a process is not scheduled, or its machine
// sleeps, it neither polls nor follows its watches: that time does not count. The zero value has
// not begun.
type polled struct {
	last  time.Time
	total time.Duration
}

// poll adds the time since the previous poll, and returns the total.
func (p *polled) poll(now time.Time) time.Duration {
	if !p.last.IsZero() {
		p.total += min(now.Sub(p.last), longestPoll)
	}
	p.last = now
	return p.total
}
