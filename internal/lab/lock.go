package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRunning says that a lab of that name is up already.
var ErrRunning = errors.New("the lab is up already")

// lockDir takes the lab's directory for this process, for as long as it lives:
// the kernel lets go of the lock when the process ends, however it ends.
func lockDir(dir string) (*os.File, error) {
	if err := ownDir(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the lab's directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // opened for nothing
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrRunning
		}
		return nil, fmt.Errorf("lock the lab's directory: %w", err)
	}
	return f, nil
}
