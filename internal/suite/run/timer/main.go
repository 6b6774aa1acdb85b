// Command timer runs a test binary and notes the CPU time of it and of all its children
// that it waited for: go test -exec timer.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...) //nolint:noctx // it lasts as long as the tests
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// go test ends a binary that takes too long with SIGQUIT.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGINT)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "timer:", err)
		os.Exit(1)
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}()
	err := cmd.Wait()
	note(time.Since(begin), cmd.ProcessState)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if exit.ExitCode() > 0 {
			os.Exit(exit.ExitCode())
		}
		os.Exit(1) // a signal
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "timer:", err)
		os.Exit(1)
	}
}

// note writes the times where the run of the suite collects them.
func note(wall time.Duration, state *os.ProcessState) {
	dir := os.Getenv("FIRSTLIGHT_SUITE_TIMES")
	if dir == "" {
		return
	}
	wd, err := os.Getwd() // go test runs a binary in the directory of its package
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(dir, "times"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "timer:", err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s\t%s\t%d\t%d\n", os.Getenv("FIRSTLIGHT_SUITE_PHASE"), wd, wall.Milliseconds(), (state.UserTime() + state.SystemTime()).Milliseconds())
}
