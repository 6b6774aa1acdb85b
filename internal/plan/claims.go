package plan

import "context"

// claims counts the GPUs that running steps hold.
type claims struct {
	held    int // GPUs
	holders int // steps
	// capacity is what was answered while nothing was held.
	capacity int
	known    bool
	asking   bool
	answers  chan answer
}

type answer struct {
	capacity int
	err      error
}

// fits says that s may start now. When the capacity has to be asked first, it
// starts asking, and the answer comes on answers.
func (c *claims) fits(ctx context.Context, ask func(context.Context) (int, error), s Step) bool {
	if c.asking {
		return false
	}
	if c.holders == 0 {
		if ask == nil || c.known {
			return true // alone, whatever it claims
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

// answered takes an answer; an error leaves room for one step at a time.
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

// release also forgets the capacity once nothing is held: on a shared cluster
// it may be another one by then.
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
