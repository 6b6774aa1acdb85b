package controller

import "time"

// Status of a controller.
type Status struct {
	// Idle: nothing is in progress, and nothing is due before Next.
	Idle bool      `json:"idle"`
	Next time.Time `json:"next,omitzero"`
	// Changes is a number that changes whenever work starts or ends.
	Changes int64 `json:"changes"`
}

// Status is safe for concurrent use.
func (c *Controller) Status() Status {
	idle, next, changes := c.idle.State()
	return Status{Idle: idle, Next: next, Changes: changes}
}
