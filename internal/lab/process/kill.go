package process

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// killPatience bounds the wait for killed processes to be gone.
const killPatience = 10 * time.Second

// Kill ends exactly these processes, which are nobody's children any more, and
// waits until they are gone. An identity that no process has is none's: nothing
// is signalled for it.
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
	deadline := time.NewTimer(killPatience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, id := range ids {
		for id.PID > 1 && id.Alive() {
			select {
			case <-tick.C:
			case <-deadline.C:
				return errors.Join(append(errs, fmt.Errorf("process %d is still there after SIGKILL", id.PID))...)
			}
		}
	}
	return errors.Join(errs...)
}
