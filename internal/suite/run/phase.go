package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/buildflags"
)

// phase is one run of go test.
type phase struct {
	name     string
	args     []string
	packages []string
	// labs: its tests borrow from the pool.
	labs bool
	// dir is the directory of the module; empty: the current one.
	dir string
}

// The names of the phases.
const (
	phaseUnit     = "unit"
	phaseLive     = "live"
	phaseRace     = "race"
	phaseEndToEnd = "e2e"
)

// raceLive is the package whose live tests also run with the race detector.
const raceLive = "github.com/firstlight/firstlight/internal/reservation/broker"

// The phases, in the order in which they run.

// unitPhase runs every test that needs no upstream program, and skips the others.
func unitPhase(packages []string) phase {
	return phase{name: phaseUnit, args: []string{"-race", "-short"}, packages: packages}
}

// longLive are the packages of live tests that take longest, in the order in which they start. Packages that borrow
// the same lab of the pool (one node: controller, servicemetrics, autoscaling, inference, gateway; two: autoscale and
// the others of conformance) are apart from each other.
var longLive = []string{
	"/internal/lab", "/lab/embedded", "/conformance/controller", "/reservation/safety", "/internal/autoscale", "/schedule/fanout",
	"/conformance/servicemetrics", "/lab/hookprovider", "/conformance/metrics", "/world/cluster", "/conformance/autoscaling",
	"/reservation/controller", "/conformance/recommended", "/reservation/store", "/conformance/inference", "/conformance/dra",
	"/schedule/defects", "/world/gateway", "/conformance/access",
}

// livePhases run those tests that the first phase skipped: they run upstream programs. Each is a sequence: the short
// packages follow the one with the race detector, which ends long before the long ones.
func livePhases(live map[string][]string, sideBySide int) [][]phase {
	long := phase{name: phaseLive, labs: true, args: []string{"-count=1", "-p=" + strconv.Itoa(sideBySide)}}
	short := phase{name: phaseLive, labs: true, args: []string{"-count=1", "-p=1"}}
	race := phase{name: phaseRace, labs: true, args: []string{"-count=1", "-race"}}
	var names []string
	for _, pkg := range slices.Sorted(maps.Keys(live)) {
		switch {
		case pkg == raceLive:
			race.packages = append(race.packages, pkg)
			race.args = append(race.args, runOnly(live[pkg]))
			continue
		case slices.ContainsFunc(longLive, func(suffix string) bool { return strings.HasSuffix(pkg, suffix) }):
			long.packages = append(long.packages, pkg)
		default:
			short.packages = append(short.packages, pkg)
		}
		names = append(names, live[pkg]...)
	}
	inOrder(long.packages, longLive)
	long.args, short.args = append(long.args, runOnly(names)), append(short.args, runOnly(names))
	return [][]phase{{long}, {race, short}}
}

// endToEndPhase runs the built binary, as its users do, in parallel with the live tests. A package has a lab for each
// test that it runs at once.
func endToEndPhase(packages []string, sideBySide int) phase {
	inOrder(packages, []string{"/e2e/validate", "/e2e/chain", "/internal/e2e"})
	return phase{name: phaseEndToEnd, labs: true, args: []string{"-count=1", "-p=" + strconv.Itoa(sideBySide), "-parallel=" + strconv.Itoa(min(4, sideBySide+1))}, packages: packages}
}

// inOrder moves the packages with these suffixes to the front. Those that take longest are first: a
// long package that starts last runs alone.
func inOrder(packages, first []string) {
	rank := func(p string) int {
		if i := slices.IndexFunc(first, func(suffix string) bool { return strings.HasSuffix(p, suffix) }); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(packages, func(a, b string) int { return rank(a) - rank(b) })
}

func runOnly(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return "-run=^(" + strings.Join(names, "|") + ")$"
}

// lessCollection of garbage in the compiler.
const lessCollection = "GOGC=400"

// compile compiles the phase's tests. Tests that miss their deadlines on a busy machine do not run in
// parallel with compilers then, only with linkers.
func (p phase) compile(ctx context.Context) error {
	if err := p.notEmpty(); err != nil {
		return err
	}
	args := []string{"-export", "-test", "-deps"}
	if p.race() {
		args = append(args, "-race")
	}
	cmd := p.command(ctx, "list", args...)
	cmd.Env = append(cmd.Env, lessCollection)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compile the tests of phase %s: %w", p.name, err)
	}
	return nil
}

func (p phase) notEmpty() error {
	if len(p.packages) == 0 {
		return fmt.Errorf("no packages for phase %s; refusing to report a pass", p.name)
	}
	return nil
}

func (p phase) race() bool { return slices.Contains(p.args, "-race") }

// command is a command of the go program with the phase's packages and the build flags of the Makefile. If ctx ends,
// it and what it started are terminated.
func (p phase) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	all := append(append([]string{name}, buildflags.Flags()...), buildflags.Strip)
	cmd := exec.CommandContext(ctx, "go", slices.Concat(all, args, p.packages)...)
	cgo := "CGO_ENABLED=0"
	if p.race() { // which needs cgo
		cgo = "CGO_ENABLED=1"
	}
	cmd.Dir, cmd.Env, cmd.Stderr = p.dir, append(os.Environ(), cgo), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// run runs the phase's tests and records each.
func (p phase) run(ctx context.Context, o options, pool *pool, r *recorder) error {
	if err := p.notEmpty(); err != nil {
		return err
	}
	begin := time.Now()
	r.printf("== %s: %d packages\n", p.name, len(p.packages))
	// go vet is part of make lint; go test keeps no result of tests that ran under -exec.
	args := []string{"-json", "-vet=off", "-timeout=" + o.timeout.String()}
	if r.profiled {
		args = append(args, "-exec="+pool.timer())
	}
	cmd := p.command(ctx, "test", append(args, p.args...)...)
	cmd.Env = append(cmd.Env, pool.env(p)...)
	if !p.labs { // programs of a lab have their own setting
		cmd.Env = append(cmd.Env, lessCollection)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run tests: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("run tests: %w", err)
	}
	readErr := r.read(p.name, out)
	err = cmd.Wait()
	r.printf("== %s took %s\n", p.name, time.Since(begin).Round(time.Second))
	if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return errors.Join(errFailed, readErr)
	}
	return errors.Join(err, readErr)
}
