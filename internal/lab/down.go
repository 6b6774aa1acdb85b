package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/firstlight/firstlight/internal/lab/process"
)

// stopTimeout bounds an orderly stop, before what is left is killed. Every
// component has its own grace period within it.
const stopTimeout = 2 * time.Minute

// Down ends the lab of that name, whatever state it is in, and returns when no
// process of it is left. A lab that is not up is ErrNotRunning.
func Down(ctx context.Context, name string) error {
	dir, err := DirOf(name)
	if err != nil {
		return err
	}
	return DownDir(ctx, name, dir)
}

// DownDir ends the lab in a directory.
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

// Stop ends the lab in order and returns when its process is gone.
func (h *Handle) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("it did not stop within %s", stopTimeout))
	defer cancel()
	if resp, err := h.Do(ctx, http.MethodPost, "/stop", nil); err == nil {
		_ = resp.Body.Close()
	} else if alive(h.Supervisor) {
		return err
	}
	return poll(ctx, "lab "+h.Name+" to stop", func(context.Context) (bool, error) {
		return !alive(h.Supervisor), nil
	})
}

// WaitGone waits until no process runs the lab of that name. It ends nothing.
func WaitGone(ctx context.Context, name string) error {
	dir, err := DirOf(name)
	if err != nil {
		return err
	}
	return poll(ctx, "lab "+name+" to end", func(context.Context) (bool, error) {
		s, err := readState(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return err == nil && !alive(s.Supervisor), err
	})
}

// awaitLock takes the directory of a lab whose process has just ended.
func awaitLock(ctx context.Context, dir string) (lock *flock.Flock, err error) {
	err = poll(ctx, "the lab's directory", func(context.Context) (bool, error) {
		lock, err = lockDir(dir)
		return err == nil, err
	})
	return lock, err
}

// endLeftovers ends what a lab without a supervisor has left: the processes
// that its state file names, by id and start time, and those that carry its
// mark; then its files. The caller holds the directory's lock, so no
// supervisor of it is alive.
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
		return fmt.Errorf("end what lab %s left: %w", s.Name, err)
	}
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clean the lab's directory: %w", err)
	}
	return errors.Join(discardIn(dir), removeState(dir))
}
