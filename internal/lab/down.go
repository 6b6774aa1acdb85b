package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/lab/process"
	"github.com/firstlight/firstlight/internal/poll"
)

// stopTimeout bounds an orderly stop; processes that remain are then killed. Each component has
// its own, shorter grace period.
const stopTimeout = 2 * time.Minute

// Down stops the named lab in any state and returns when all its processes have ended. The error
// is ErrNotRunning when the lab is not up.
func Down(ctx context.Context, name string) error {
	dir, err := DirOf(name)
	if err != nil {
		return err
	}
	return DownDir(ctx, name, dir)
}

// DownDir is Down for the lab in dir.
func DownDir(ctx context.Context, name, dir string) error {
	s, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lab %s: %w", name, ErrNotRunning)
	}
	if err != nil {
		return err
	}
	if alive(s.Supervisor) {
		h := &Handle{Name: name, Dir: dir, Supervisor: s.Supervisor, client: controlClient(dir)}
		if err := h.Stop(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			_ = syscall.Kill(s.Supervisor.PID, syscall.SIGKILL) // its children die with it
		}
	}
	lock, err := awaitLock(ctx, dir)
	if err != nil {
		return fmt.Errorf("stop lab %s: %w", name, err)
	}
	return errors.Join(endLeftovers(dir), lock.Close())
}

// Stop stops the lab in order and returns when its process has ended.
func (h *Handle) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("not stopped after %s", stopTimeout))
	defer cancel()
	if resp, err := h.Do(ctx, http.MethodPost, "/stop", nil); err == nil {
		_ = resp.Body.Close()
	} else if alive(h.Supervisor) {
		return err
	}
	return poll.Until(ctx, pollInterval, "lab "+h.Name+" to stop", func(context.Context) error {
		return requireExited(h.Supervisor)
	})
}

// WaitGone waits until no process runs the named lab. It stops nothing.
func WaitGone(ctx context.Context, name string) error {
	dir, err := DirOf(name)
	if err != nil {
		return err
	}
	return poll.Until(ctx, pollInterval, "lab "+name+" to stop", func(context.Context) error {
		s, err := readState(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return requireExited(s.Supervisor)
	})
}

func requireExited(id process.Identity) error {
	if alive(id) {
		return fmt.Errorf("process %d is running", id.PID)
	}
	return nil
}

// awaitLock locks the directory of a lab whose process has just ended.
func awaitLock(ctx context.Context, dir string) (lock *flock.Flock, err error) {
	err = poll.Until(ctx, pollInterval, "the lock of the lab's directory", func(context.Context) error {
		lock, err = lockDir(dir)
		return err
	})
	return lock, err
}

// endLeftovers kills the processes of a lab without a supervisor (those in its state file, by PID
// and start time, and those with its marker) and deletes its files. The caller holds the
// directory's lock, so no supervisor is alive.
func endLeftovers(dir string) error {
	s, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ids := make([]process.Identity, 0, len(s.Processes))
	for _, p := range slices.Backward(s.Processes) { // last started first
		ids = append(ids, p.Identity)
	}
	marked, err := markedProcesses(s.ID)
	if err != nil {
		return err
	}
	if err := process.Kill(append(ids, marked...)); err != nil {
		return fmt.Errorf("stop leftover processes of lab %s: %w", s.Name, err)
	}
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clean the lab's directory: %w", err)
	}
	return errors.Join(discardIn(dir), removeState(dir))
}

// markedProcesses returns the processes whose initial environment has the lab's marker.
func markedProcesses(id string) ([]process.Identity, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	mark := []byte(Marker + "=" + id)
	var found []process.Identity
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // not a process
		}
		before, err := process.Identify(pid)
		if err != nil {
			continue // ended
		}
		environ, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil {
			continue // another user's, or ended
		}
		for v := range bytes.SplitSeq(environ, []byte{0}) {
			if bytes.Equal(v, mark) {
				found = append(found, before)
				break
			}
		}
	}
	return found, nil
}
