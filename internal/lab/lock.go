package lab

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrRunning says that a lab of that name is up already.
var ErrRunning = errors.New("the lab is up already")

// lockDir takes the lab's directory for this process, for as long as it lives:
// the kernel lets go of the lock when the process ends, however it ends.
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
