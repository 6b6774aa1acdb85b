package runner

import (
	"time"

	"k8s.io/utils/clock"
)

const (
	// pieces are what patience is counted in: while this process is not run at all (a
	// machine that is suspended, or has no time for it), one of them passes at most.
	pieces = 10
	// longest is how many times its patience a cell may take that never stops changing.
	longest = 10
)

// patience is how long a cell is waited for in which nothing changes.
type patience struct {
	timer clock.Timer
	piece time.Duration
	// quiet pieces have passed since something changed, of all.
	quiet, all int
}

func newPatience(c clock.Clock, d time.Duration) *patience {
	return &patience{timer: c.NewTimer(d / pieces), piece: d / pieces}
}

// renew is for something that changed.
func (p *patience) renew() { p.quiet = 0 }

// over counts a piece that has passed, and says whether that was the last one. The next
// one begins now.
func (p *patience) over() bool {
	p.quiet++
	p.all++
	p.timer.Reset(p.piece)
	return p.quiet >= pieces || p.all >= pieces*longest
}
