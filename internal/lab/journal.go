package lab

import "sync"

// journal keeps every event since the start and hands them to any number of
// readers, each from the first.
type journal struct {
	mu     sync.Mutex
	events []Event
	// changed is closed, and replaced, when there is more.
	changed chan struct{}
	closed  bool
}

func newJournal() *journal { return &journal{changed: make(chan struct{})} }

func (j *journal) add(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	j.events = append(j.events, e)
	close(j.changed)
	j.changed = make(chan struct{})
}

// close says that no event follows.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.closed = true
		close(j.changed)
	}
}

// count is how many events there are.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.events)
}

// from returns the events after the first n, and a channel that is closed when
// there are more; done says that there will be none.
func (j *journal) from(n int) (events []Event, more <-chan struct{}, done bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.events[n:len(j.events):len(j.events)], j.changed, j.closed
}
