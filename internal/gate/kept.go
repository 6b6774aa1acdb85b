package gate

import (
	"slices"
	"sync"

	"github.com/firstlight/firstlight/internal/check"
)

// kept is a recorder that also keeps what is stored.
type kept struct {
	check.Recorder
	mu  sync.Mutex
	obs []check.Observation
}

// Record implements check.Recorder.
func (k *kept) Record(o check.Observation) (check.Observation, error) {
	stored, err := k.Recorder.Record(o)
	if err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.obs = append(k.obs, stored)
	}
	return stored, err
}

// all are the observations in the order of the store.
func (k *kept) all() []check.Observation {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.obs)
}
