package safety

import (
	"math/rand/v2"
	"sync"
	"time"
)

// jumping is a clock whose time of day is set by hours, both ways, every now and then.
type jumping struct {
	mu     sync.Mutex
	rng    *rand.Rand
	until  int64
	offset time.Duration
}

func (c *jumping) Elapsed() time.Duration { return time.Duration(monotonic()) }

func (c *jumping) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := monotonic(); now >= c.until {
		c.until = now + int64(300*time.Millisecond) + c.rng.Int64N(int64(2*time.Second))
		c.offset = time.Duration(c.rng.Int64N(int64(12*time.Hour))) - 6*time.Hour
	}
	return time.Now().Add(c.offset)
}

// hasty is a clock that runs ten times too fast: a defect.
type hasty struct{ jumping }

func (c *hasty) Elapsed() time.Duration { return 10 * time.Duration(monotonic()) }
