package process

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// killTimeout bounds the wait after SIGKILL.
const killTimeout = 10 * time.Second

// Kill sends SIGKILL to these processes, which are not children of this one, and waits until they
// have ended. It skips identities that no longer exist.
func Kill(ids []Identity) error {
	var errs []error
	for _, id := range ids {
		if id.PID <= 1 || !id.Alive() {
			continue
		}
		if err := syscall.Kill(id.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("kill process %d: %w", id.PID, err))
		}
	}
	deadline := time.NewTimer(killTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, id := range ids {
		for id.PID > 1 && id.Alive() {
			select {
			case <-tick.C:
			case <-deadline.C:
				return errors.Join(append(errs, fmt.Errorf("process %d is alive after SIGKILL", id.PID))...)
			}
		}
	}
	return errors.Join(errs...)
}
