package lab

import "sync"

// journal keeps all events since the start for any number of readers.
type journal struct {
	mu     sync.Mutex
	events []Event
	// changed is closed and replaced when an event is added.
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

// close marks the journal as complete.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.closed = true
		close(j.changed)
	}
}

func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.events)
}

// from returns the events after the first n and a channel that is closed when more exist; done
// reports that the journal is complete.
func (j *journal) from(n int) (events []Event, more <-chan struct{}, done bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.events[n:len(j.events):len(j.events)], j.changed, j.closed
}
