package proctree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// backstop is how long the subreaper itself has, beyond the grace, before it is killed.
const backstop = 30 * time.Second

// Outlives is in the environment of a process that is meant to outlive the program that
// starts it: a lab, and the store of reservations, stay up.
const Outlives = "FIRSTLIGHT_OUTLIVES=true"

// report is what a subreaper says beside the exit status of its program.
type report struct {
	// Error says why the program could not be started.
	Error string `json:"error,omitempty"`
	// Held: the program ended, and something that it started held its output open until it
	// was killed.
	Held bool `json:"held,omitempty"`
}

// Run runs cmd, which is made by exec.Command and not started, to its end, as cmd.Run does;
// cmd.ProcessState stays nil. When ctx ends, the program's process group gets SIGTERM, and after
// the grace all that it started gets SIGKILL. What is left when the program has ended is
// killed: at once, or after the grace where it holds the program's output open, which is
// exec.ErrWaitDelay as with cmd.Run.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	said, says, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	defer said.Close()
	tree := exec.CommandContext(ctx, "/proc/self/exe")
	tree.Args = append([]string{subreaper, grace.String(), cmd.Path}, cmd.Args...)
	tree.Env, tree.Dir = cmd.Env, cmd.Dir
	tree.Stdin, tree.Stdout, tree.Stderr = cmd.Stdin, cmd.Stdout, cmd.Stderr
	tree.ExtraFiles = []*os.File{says}
	tree.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGHUP}
	tree.Cancel = func() error { return tree.Process.Signal(syscall.SIGTERM) }
	tree.WaitDelay = grace + backstop
	err = start(tree, says)
	raw, _ := io.ReadAll(said) // a subreaper that was killed says nothing
	var r report
	if len(bytes.TrimSpace(raw)) > 0 {
		if bad := json.Unmarshal(raw, &r); bad != nil {
			return errors.Join(err, fmt.Errorf("run %s: read what its subreaper says: %w", cmd.Path, bad))
		}
	}
	switch {
	case r.Error != "":
		return errors.New(r.Error)
	case err == nil && r.Held && ctx.Err() == nil:
		return exec.ErrWaitDelay
	default:
		return err
	}
}

// start runs a subreaper to its end. The thread is held: the parent-death signal is that of
// the thread that started it.
func start(tree *exec.Cmd, says *os.File) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := tree.Start()
	_ = says.Close() // the subreaper has its own
	if err != nil {
		return err
	}
	return tree.Wait()
}
