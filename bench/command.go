package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// stopTimeout is how long a command may take to clean up after an interrupt.
const stopTimeout = time.Minute

// home is the directory of a run's labs, in the run's own.
const home = "home"

// timed runs the binary; anything but exit 0 is an error with its last words.
func (b *bench) timed(ctx context.Context, stdout *bytes.Buffer, args ...string) (float64, error) {
	return b.timedIn(ctx, "", stdout, args...)
}

// timedIn does so in a directory; empty: this one.
func (b *bench) timedIn(ctx context.Context, dir string, stdout *bytes.Buffer, args ...string) (float64, error) {
	began := time.Now()
	if _, err := b.command(ctx, dir, stdout, args...); err != nil {
		return 0, err
	}
	return time.Since(began).Seconds(), nil
}

// command runs the binary as timedIn does, and returns what it has used.
func (b *bench) command(ctx context.Context, dir string, stdout *bytes.Buffer, args ...string) (usage, error) {
	binary, err := filepath.Abs(b.binary)
	if err != nil {
		return usage{}, fmt.Errorf("find the binary: %w", err)
	}
	cmd := interruptible(exec.CommandContext(ctx, binary, args...))
	cmd.Dir = dir
	// A FIRSTLIGHT_HOME of this run: no lab exists before it, and no lab is left after it.
	cmd.Env = append(os.Environ(), "FIRSTLIGHT_HOME="+filepath.Join(b.dir, home))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if stdout != nil {
		cmd.Stdout = stdout
	}
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("firstlight %v: %w\n%s", args, err, stderr.Bytes())
	}
	u := usage{cpu: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = 1024 * float64(r.Maxrss) // kB on Linux
	}
	return u, nil
}

// output runs the binary and returns what it printed.
func (b *bench) output(ctx context.Context, args ...string) ([]byte, error) {
	var out bytes.Buffer
	_, err := b.timed(ctx, &out, args...)
	return out.Bytes(), err
}

// interruptible makes the end of the context an interrupt, after which the command cleans up.
func interruptible(cmd *exec.Cmd) *exec.Cmd {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTimeout
	return cmd
}
