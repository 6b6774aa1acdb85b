package cluster

import "sync"

// changes are names of objects that have changed.
type changes struct {
	// some receives after the first name since take.
	some chan struct{}

	mu    sync.Mutex
	names map[string]bool
}

func newChanges() *changes { return &changes{some: make(chan struct{}, 1), names: map[string]bool{}} }

func (c *changes) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[name] = true
	select {
	case c.some <- struct{}{}:
	default: // already announced
	}
}

// take returns the names since the last call.
func (c *changes) take() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := c.names
	c.names = map[string]bool{}
	return names
}
