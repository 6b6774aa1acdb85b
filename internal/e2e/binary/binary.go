// Package binary builds firstlight and runs it, for tests that use it as its
// users do.
package binary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/buildflags"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/suite"
)

// Firstlight is a built binary with a home of its own.
type Firstlight struct {
	// Path of the binary, Home of its labs.
	Path, Home string
}

// Build builds the binary into dir, or takes that of the run's pool of labs.
func Build(ctx context.Context, dir string) (Firstlight, error) {
	f := Firstlight{Path: filepath.Join(dir, "firstlight"), Home: filepath.Join(dir, "home")}
	if pool := os.Getenv(suite.PoolEnv); pool != "" {
		// The run ends labs that are left below this directory.
		f.Path, f.Home = filepath.Join(pool, labtest.PoolBinary), filepath.Join(pool, labtest.PoolEndToEnd, strings.TrimPrefix(filepath.Base(dir), "firstlight-"))
		return f, nil
	}
	build := exec.CommandContext(ctx, "go", append(append([]string{"build"}, buildflags.Flags()...), buildflags.Strip, "-buildvcs=false",
		"-o", f.Path, "github.com/firstlight/firstlight/cmd/firstlight")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return f, fmt.Errorf("build firstlight: %w\n%s", err, out)
	}
	return f, nil
}

// Command returns a command that is ready to run.
func (f Firstlight) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, f.Path, args...)
	cmd.Env = append(os.Environ(), "FIRSTLIGHT_HOME="+f.Home, "NO_COLOR=1")
	return cmd
}

// Run runs a command to its end.
func (f Firstlight) Run(ctx context.Context, args ...string) Result {
	return Finish(f.Command(ctx, args...))
}

// Result is one finished command.
type Result struct {
	// Code is the exit code; -1 when the command could not be run, and Stderr says why.
	Code           int
	Stdout, Stderr string
	Took           time.Duration
}

// Finish runs cmd to its end.
func Finish(cmd *exec.Cmd) Result {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Took: time.Since(began)}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Code = exit.ExitCode()
	} else if err != nil {
		r.Code, r.Stderr = -1, r.Stderr+err.Error()
	}
	return r
}
