package plan

import "context"

// claims counts the GPUs of the running steps.
type claims struct {
	held    int // GPUs
	holders int // steps
	// capacity is the last answer; it is queried while no step holds GPUs.
	capacity int
	known    bool
	asking   bool
	answers  chan answer
}

type answer struct {
	capacity int
	err      error
}

// fits reports whether s may start now. If the capacity must be queried first, it starts the
// query, whose result arrives on answers.
func (c *claims) fits(ctx context.Context, ask func(context.Context) (int, error), s Step) bool {
	if c.asking {
		return false
	}
	if c.holders == 0 {
		if ask == nil || c.known {
			return true // a single step may exceed the capacity
		}
		c.asking = true
		c.answers = make(chan answer, 1)
		go func() {
			n, err := ask(ctx)
			c.answers <- answer{capacity: n, err: err}
		}()
		return false
	}
	return c.held+s.GPUs <= c.capacity
}

// answered stores an answer. After an error, steps run one at a time.
func (c *claims) answered(a answer) {
	c.asking, c.known, c.capacity = false, true, a.capacity
	if a.err != nil {
		c.capacity = 0
	}
}

func (c *claims) hold(s Step) {
	c.held += s.GPUs
	c.holders++
}

// release also discards the capacity when no step holds GPUs: on a shared cluster it may
// have changed.
func (c *claims) release(s Step) {
	if s.GPUs == 0 {
		return
	}
	c.held -= s.GPUs
	c.holders--
	if c.holders == 0 {
		c.known = false
	}
}
