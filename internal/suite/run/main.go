// Command run runs the test suite and says where its time goes.
//
// It runs in phases: unit tests with the race detector, in a mirror of the working tree; live
// tests, which run upstream programs, in parallel on a shared pool of labs; and, in parallel with
// them, end-to-end tests. The slowest tests are printed at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := 0
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		code = 1
	}
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	only    string        // the name of one phase
	profile string        // file of the profile
	timeout time.Duration // of one test package
	limit   time.Duration // of the run
	// live and endToEnd are how many test packages of these phases run at once.
	live, endToEnd int
}

// has reports whether a phase with one of these names is selected.
func (o options) has(names ...string) bool { return o.only == "" || slices.Contains(names, o.only) }

var errFailed = errors.New("tests failed")

func run(ctx context.Context) error {
	o, err := readOptions()
	if err != nil {
		return err
	}
	endToEnd, others, err := listPackages(ctx)
	if err != nil {
		return err
	}
	pool, err := makePool(ctx)
	if err != nil {
		return err
	}
	defer pool.close(context.WithoutCancel(ctx))

	begin, level := time.Now(), suite.Current()
	r := newRecorder(os.Stdout, pool.dir, o.profile != "")
	runner := &runner{options: o, pool: pool, recorder: r}
	limited, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("the run took longer than its limit of %s", o.limit))
	defer cancel()
	err = runner.all(limited, endToEnd, others)
	if limited.Err() != nil {
		r.unfinished()
		err = errors.Join(err, context.Cause(limited))
	}
	// Of a run that was interrupted, too.
	r.slowest(20)
	r.printFailures()
	if err != nil {
		return err
	}
	if o.profile != "" {
		if err := r.writeProfile(o.profile, level); err != nil {
			return err
		}
	}
	fmt.Fprintf(r.out, "\nmake %s took %s\n%s\n", level, time.Since(begin).Round(time.Second), r.counts())
	if runner.failed.Load() {
		return errFailed
	}
	return r.complete(o.phases())
}

// readOptions reads the flags.
func readOptions() (options, error) {
	var o options
	flag.StringVar(&o.only, "phase", "", "run this phase only: unit, live, e2e")
	flag.StringVar(&o.profile, "profile", "", "write the time and CPU time of every package and test to this file, as a Markdown table")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Minute, "limit of one test package; its goroutines are printed when it is reached")
	flag.DurationVar(&o.limit, "limit", 70*time.Minute, "limit of the run; the tests that were running are printed when it is reached")
	flag.IntVar(&o.live, "live", packagesAtOnce(), "live test packages that run in parallel: each lab takes about 10 of the 128 inotify instances that a user usually has, and, idle, a tenth of a core")
	flag.IntVar(&o.endToEnd, "e2e", packagesAtOnce(), "end-to-end test packages that run in parallel, in addition to the live ones")
	flag.Parse()
	if o.only != "" && !slices.Contains([]string{phaseUnit, phaseLive, phaseEndToEnd}, o.only) {
		return o, fmt.Errorf("invalid -phase %q: want unit, live or e2e", o.only)
	}
	return o, nil
}

// packagesAtOnce is how many packages of a phase run at once. With three of each phase on two cores, the idle labs
// of 15 tests took more than half of the CPU time.
func packagesAtOnce() int {
	const least, most = 2, 3
	return min(max(least, runtime.NumCPU()), most)
}

// phases are those that must have passed a test.
func (o options) phases() []string {
	if o.only != "" {
		return []string{o.only}
	}
	return []string{phaseUnit, phaseLive, phaseRace, phaseEndToEnd}
}

// runner runs phases.
type runner struct {
	options  options
	pool     *pool
	recorder *recorder
	failed   atomic.Bool
}

// all runs the phases that the options ask for. Tests that fail end nothing.
func (r *runner) all(ctx context.Context, endToEnd, others []string) error {
	o := r.options
	if o.has(phaseUnit, phaseLive) {
		if err := r.unit(ctx, unitPhase(others)); err != nil { // it also finds the live tests
			return err
		}
	}
	if o.only != phaseUnit {
		begin := time.Now()
		if err := r.pool.buildPrograms(ctx); err != nil {
			return err
		}
		r.recorder.printf("== upstream programs took %s\n", time.Since(begin).Round(time.Second))
	}
	var parallel [][]phase
	if o.has(phaseLive) {
		parallel = livePhases(r.recorder.liveTests, o.live)
	}
	if o.has(phaseEndToEnd) {
		parallel = append(parallel, []phase{endToEndPhase(endToEnd, o.endToEnd)})
	}
	begin := time.Now()
	for _, p := range slices.Concat(parallel...) {
		if err := p.compile(ctx); err != nil {
			return err
		}
	}
	r.recorder.printf("== compiling the other tests took %s\n", time.Since(begin).Round(time.Second))
	group, groupCtx := errgroup.WithContext(ctx)
	for _, sequence := range parallel {
		group.Go(func() error { return r.do(groupCtx, sequence...) })
	}
	return group.Wait()
}

// unit runs the unit tests in the mirror of the working tree, or in the tree itself without a mirror.
func (r *runner) unit(ctx context.Context, p phase) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find the user's cache directory: %w", err)
	}
	m, err := openMirror(ctx, ".", filepath.Join(cache, "firstlight", "unit-tests"))
	if err != nil {
		return err
	}
	if m == nil {
		r.recorder.printf("== unit: in the working tree: no git repository, or another run of unit tests is in progress\n")
		return r.do(ctx, p)
	}
	p.dir = m.dir
	return errors.Join(r.do(ctx, p), m.close())
}

func (r *runner) do(ctx context.Context, phases ...phase) error {
	for _, p := range phases {
		if err := p.run(ctx, r.options, r.pool, r.recorder); errors.Is(err, errFailed) {
			r.failed.Store(true)
		} else if err != nil {
			return fmt.Errorf("phase %s: %w", p.name, err)
		}
	}
	return nil
}
