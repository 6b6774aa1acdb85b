package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/lab/localstore"
	"github.com/firstlight/firstlight/internal/suite"
)

// pool is the pool of labs of this run (suite.PoolEnv).
type pool struct {
	dir   string
	owner *os.File // the only writer of the FIFO: the labs end when it is closed
}

// makePool builds the binary that the labs and the end-to-end tests run.
func makePool(ctx context.Context) (*pool, error) {
	dir, err := os.MkdirTemp("", "fl-")
	if err != nil {
		return nil, fmt.Errorf("make pool of labs: %w", err)
	}
	p := &pool{dir: dir}
	fifo := filepath.Join(dir, labtest.PoolOwner)
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make pool of labs: %w", err), os.RemoveAll(dir))
	}
	if p.owner, err = os.OpenFile(fifo, os.O_RDWR, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("make pool of labs: %w", err), os.RemoveAll(dir))
	}
	for _, b := range [][]string{{"make", "build", "BIN=" + filepath.Join(dir, labtest.PoolBinary)}, {"go", "build", "-o", p.timer(), "./internal/suite/run/timer"}} {
		if out, err := exec.CommandContext(ctx, b[0], b[1:]...).CombinedOutput(); err != nil {
			p.close(ctx)
			return nil, fmt.Errorf("build what tests run: %w\n%s", err, out)
		}
	}
	return p, nil
}

// buildPrograms builds the upstream programs that are missing: no test waits for a compiler.
func (p *pool) buildPrograms(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, labtest.PoolBinary), "lab", "programs", "build")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the upstream programs: %w", err)
	}
	return nil
}

// timer is the program that runs each test binary and notes its CPU time.
func (p *pool) timer() string { return filepath.Join(p.dir, "timer") }

// env is what the tests of a phase get in their environment.
func (p *pool) env(ph phase) []string {
	env := []string{timesEnv + "=" + p.dir, phaseEnv + "=" + ph.name}
	if ph.labs {
		env = append(env, suite.PoolEnv+"="+p.dir)
	}
	if ph.dir != "" { // outside it, paths that are relative to the checkout lead elsewhere
		env = append(env, corpusOf(".")...)
	}
	return env
}

// corpusEnv is the directory of outputs of real tools (internal/probe/corpus).
const corpusEnv = "FIRSTLIGHT_CORPUS"

// corpusOf sets corpusEnv to the default of a checkout, if that exists and corpusEnv is not set.
func corpusOf(root string) []string {
	dir, err := filepath.Abs(filepath.Join(root, "..", "shared", "corpus"))
	if _, statErr := os.Stat(dir); err != nil || statErr != nil || os.Getenv(corpusEnv) != "" {
		return nil
	}
	return []string{corpusEnv + "=" + dir}
}

// close ends the labs and deletes the pool.
func (p *pool) close(ctx context.Context) {
	_ = p.owner.Close()
	err := p.endLabs(ctx)
	if err == nil {
		err = os.RemoveAll(p.dir)
	}
	if err != nil { // keep the files that are needed to stop a lab by hand
		fmt.Fprintf(os.Stderr, "suite: end the labs of %s: %v\n", p.dir, err)
	}
}

// endLabs ends the labs and stores of the run; tests that come later start others.
func (p *pool) endLabs(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	var errs []error
	for _, pattern := range []string{
		filepath.Join(labtest.PoolHome, "labs", "*"),
		filepath.Join(labtest.PoolEndToEnd, "*", "labs", "*"),
		filepath.Join(labtest.PoolEndToEnd, "*", localstore.Name),
	} {
		dirs, err := filepath.Glob(filepath.Join(p.dir, pattern))
		errs = append(errs, err)
		for _, dir := range dirs {
			if err := lab.DownDir(ctx, filepath.Base(dir), dir); !errors.Is(err, lab.ErrNotRunning) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
