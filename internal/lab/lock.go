package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrRunning is returned when a lab of the name is up.
var ErrRunning = errors.New("lab is already running")

// lockDir locks the lab's directory until the lock is closed or the process ends.
func lockDir(dir string) (*flock.Flock, error) {
	if err := ownDir(dir); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the lab's directory: %w", err)
	}
	if !ok {
		return nil, ErrRunning
	}
	return lock, nil
}
