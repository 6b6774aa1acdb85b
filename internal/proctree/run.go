package proctree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// backstop is the subreaper's time after the grace period before it is killed.
const backstop = 30 * time.Second

// Outlives marks the environment of a process that outlives the program that starts it, for
// example a lab or the reservation store.
const Outlives = "FIRSTLIGHT_OUTLIVES=true"

// report is the result of a subreaper in addition to the exit status.
type report struct {
	// Error is set if the program could not be started.
	Error string `json:"error,omitempty"`
	// Held: after the program ended, a descendant held its output open until it was killed.
	Held bool `json:"held,omitempty"`
	// Left are the PIDs of descendants that could not be killed.
	Left []int `json:"left,omitempty"`
}

// LeftError means that descendants of the program may still run.
type LeftError struct {
	// PIDs that could not be killed; empty: unknown, because the subreaper was killed.
	PIDs []int
	// Cause is the end of the program; nil: it succeeded.
	Cause error
}

func (e *LeftError) Error() string {
	text := fmt.Sprintf("processes %v cannot be killed and still run", e.PIDs)
	if len(e.PIDs) == 0 {
		text = "its child processes did not end in time and may still run"
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// ExitCode returns the exit status of the program; ok is false if the program has none, because a
// signal ended it, or if it is unknown.
func (e *LeftError) ExitCode() (code int, ok bool) {
	if len(e.PIDs) == 0 {
		return 0, false
	}
	if e.Cause == nil {
		return 0, true
	}
	exit, ok := errors.AsType[*exec.ExitError](e.Cause)
	if !ok || exit.ExitCode() < 0 {
		return 0, false
	}
	return exit.ExitCode(), true
}

// Run runs cmd, created by exec.Command and not started, as cmd.Run does; cmd.ProcessState stays
// nil. When ctx ends, the program's process group gets SIGTERM and, after the grace period, all
// descendants get SIGKILL. Descendants that remain when the program has ended are killed at once.
// If one holds the program's output open, it is killed after the grace period, and the error is
// exec.ErrWaitDelay as with cmd.Run. If one cannot be killed, the error is a LeftError. The Deadline
// of ctx, if any, ends the program too, and bounds its grace period.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	deadline := DeadlineOf(ctx)
	grace = deadline.Grace(grace)
	reportReader, reportWriter, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	defer reportReader.Close()
	tree := exec.CommandContext(ctx, "/proc/self/exe")
	tree.Args = append([]string{subreaper, grace.String(), strconv.FormatBool(deadline != nil), cmd.Path}, cmd.Args...)
	tree.Env, tree.Dir = cmd.Env, cmd.Dir
	tree.Stdin, tree.Stdout, tree.Stderr = cmd.Stdin, cmd.Stdout, cmd.Stderr
	tree.ExtraFiles = []*os.File{reportWriter}
	if deadline != nil {
		if left, set := deadline.Left(); set && left <= 0 {
			return fmt.Errorf("start %s: %w", cmd.Path, ErrDeadline)
		}
		deadlines, sender, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("start %s: %w", cmd.Path, err)
		}
		done := make(chan struct{})
		defer close(done)
		go deadline.send(sender, done)
		defer deadlines.Close()
		tree.ExtraFiles = append(tree.ExtraFiles, deadlines)
	}
	tree.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGHUP}
	tree.Cancel = func() error { return tree.Process.Signal(syscall.SIGTERM) }
	tree.WaitDelay = grace + backstop
	err = start(tree, reportWriter)
	if tree.Process == nil {
		return err
	}
	raw, _ := io.ReadAll(reportReader)
	var r report
	if bad := json.Unmarshal(raw, &r); bad != nil { // the subreaper was killed
		return &LeftError{Cause: err}
	}
	switch {
	case r.Error != "":
		return errors.New(r.Error)
	case len(r.Left) > 0:
		return &LeftError{PIDs: r.Left, Cause: err}
	case err == nil && r.Held && ctx.Err() == nil:
		return exec.ErrWaitDelay
	default:
		return err
	}
}

// start runs a subreaper to its end. It locks the thread, because the parent-death signal is bound
// to the thread that starts the process.
func start(tree *exec.Cmd, reportWriter *os.File) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := tree.Start()
	_ = reportWriter.Close() // the subreaper has a copy
	if err != nil {
		return err
	}
	return tree.Wait()
}
