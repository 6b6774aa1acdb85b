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

// Died reports whether the named lab has a state file and no supervisor.
func Died(name string) (bool, error) {
	dir, err := DirOf(name)
	if err != nil {
		return false, err
	}
	s, err := readStateOf(name, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && !alive(s.Supervisor), err
}

// DownDir is Down for the lab in dir.
func DownDir(ctx context.Context, name, dir string) error {
	s, err := readStateOf(name, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lab %s: %w", name, ErrNotRunning)
	}
	if err != nil {
		return err
	}
	return s.handle(dir).Down(ctx)
}

// Down stops this lab in any state and returns when all its processes have ended. A later lab in
// the same directory is not affected.
func (h *Handle) Down(ctx context.Context) error {
	if alive(h.Supervisor) {
		if err := h.Stop(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if err := process.Kill([]process.Identity{h.Supervisor}); err != nil { // its children die with it
				return fmt.Errorf("stop lab %s: %w", h.Name, err)
			}
		}
	}
	lock, err := h.awaitLock(ctx)
	if err != nil {
		return fmt.Errorf("stop lab %s: %w", h.Name, err)
	}
	if lock == nil {
		return nil // a later lab has cleaned the directory
	}
	_, err = endLeftovers(h.Dir)
	return errors.Join(err, lock.Close())
}

// Stop stops the lab in order and returns when its process has ended.
func (h *Handle) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("not stopped after %s", stopTimeout))
	defer cancel()
	if err := h.askToStop(ctx); err != nil && alive(h.Supervisor) {
		return err
	}
	return poll.Until(ctx, pollInterval, "lab "+h.Name+" to stop", func(context.Context) error {
		return requireExited(h.Supervisor)
	})
}

func (h *Handle) askToStop(ctx context.Context) error {
	ctx, cancel := answerWithin(ctx)
	defer cancel()
	resp, err := h.Do(ctx, http.MethodPost, "/stop", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
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

// awaitLock locks the directory of a lab whose process has just ended. It returns nil if a later
// lab has it.
func (h *Handle) awaitLock(ctx context.Context) (lock *flock.Flock, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, stopTimeout, fmt.Errorf("not free after %s", stopTimeout))
	defer cancel()
	err = poll.Until(ctx, pollInterval, "the lock of the lab's directory", func(context.Context) error {
		if lock, err = lockDir(h.Dir); err == nil {
			return nil
		}
		if s, stateErr := readState(h.Dir); stateErr == nil && s.ID != h.id && alive(s.Supervisor) {
			lock = nil
			return nil
		}
		return err
	})
	return lock, err
}

// endLeftovers kills the processes of a lab without a supervisor (those in its state file, by PID
// and start time, and those with its marker) and deletes its files. The caller holds the
// directory's lock, so no supervisor is alive. died reports whether there was such a lab.
func endLeftovers(dir string) (died bool, err error) {
	s, err := readState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ids := make([]process.Identity, 0, len(s.Processes))
	for _, p := range slices.Backward(s.Processes) { // last started first
		ids = append(ids, p.Identity)
	}
	marked := func() ([]process.Identity, error) { return markedProcesses(s.ID) }
	if err := killAll(ids, marked, process.Kill); err != nil {
		return true, fmt.Errorf("stop leftover processes of lab %s: %w", s.Name, err)
	}
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, fmt.Errorf("clean the lab's directory: %w", err)
	}
	return true, errors.Join(discardIn(dir), removeState(dir))
}

// killRounds bounds killAll: a process can start another one before it is killed.
const killRounds = 5

// killAll kills these processes, and those that list returns until it returns none.
func killAll(ids []process.Identity, list func() ([]process.Identity, error), kill func([]process.Identity) error) error {
	for range killRounds {
		left, err := list()
		if err != nil {
			return err
		}
		if ids = append(ids, left...); len(ids) == 0 {
			return nil
		}
		if err := kill(ids); err != nil {
			return err
		}
		ids = nil
	}
	if left, err := list(); err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf("processes of the lab remain after %d rounds of SIGKILL", killRounds)
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
