package controller

import "time"

// Status is what a controller is at.
type Status struct {
	// Idle: nothing is being worked on, and nothing is due before Next.
	Idle bool      `json:"idle"`
	Next time.Time `json:"next,omitzero"`
	// Changes is another number whenever something began or ended.
	Changes int64 `json:"changes"`
}

// Status answers at any time.
func (c *Controller) Status() Status {
	idle, next, changes := c.idle.State()
	return Status{Idle: idle, Next: next, Changes: changes}
}
