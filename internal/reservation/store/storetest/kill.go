package storetest

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// Kill kills etcd or kube-apiserver; the supervisor restarts it.
func (s *Store) Kill(component string) error {
	for _, c := range s.Lab.Status().Components {
		if c.Name == component {
			if err := process.Kill([]process.Identity{c.Identity}); err != nil {
				return fmt.Errorf("kill %s: %w", component, err)
			}
			return nil
		}
	}
	return fmt.Errorf("kill %s: the store has no such component", component)
}
