package broker

import (
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/store"
)

// written has the versions that this broker wrote last. The next step on one needs no read: if it is
// no longer the current version, the write conflicts and the step is repeated on a read.
type written struct {
	mu   sync.Mutex
	last map[string]ownVersion
}

type ownVersion struct {
	*store.Reservation
	at time.Time
}

// ownFor bounds the age of a version that is used without a read. A store that was restored from a
// backup may use the version again for other content; that takes longer.
const ownFor = 5 * time.Second

// get returns nil if a step needs a read.
func (w *written) get(name string) *store.Reservation {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.last[name]
	if !ok || time.Since(v.at) > ownFor {
		return nil
	}
	return v.Reservation
}

// put must be called with the time before the request of the write.
func (w *written) put(r *store.Reservation, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == nil {
		w.last = map[string]ownVersion{}
	}
	w.last[r.Name] = ownVersion{r, at}
}

// forget drops all versions, after a request that failed: the store may have been replaced.
func (w *written) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.last)
}
