package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/suite"
)

// Options say what to measure.
type Options struct {
	// Root is the directory of the module.
	Root string
	// Targets and Equivalent are the data files.
	Targets    Targets
	Equivalent []Equivalent
	// Packages are those of the targets to measure, or files of them; empty: all targets.
	Packages []string
	Seed     uint64
	// Sample is how many mutants to run, divided between packages by their size; 0 runs all.
	Sample int
	// Jobs is how many mutants run at once.
	Jobs int
	// Progress gets a line for each package.
	Progress io.Writer
}

// Outcome is what tests made of a mutant.
type Outcome string

// The outcomes.
const (
	Killed Outcome = "killed"
	// TimedOut mutants are killed, too.
	TimedOut Outcome = "timed out"
	Survived Outcome = "survived"
	// Unreached mutants are in code that no test runs; they count as survivors.
	Unreached Outcome = "not reached"
	// Ended mutants did not exit by themselves, for lack of memory or because someone ended
	// them: whether tests notice them is unknown, and they do not count as killed.
	Ended Outcome = "ended by a signal"
)

// Result is a mutant that was run.
type Result struct {
	Mutant
	Outcome Outcome `json:"outcome"`
	// By is the first test that failed.
	By string `json:"by,omitempty"`
	// Equivalent is the reason why the mutant does not count; empty when it does.
	Equivalent string `json:"equivalent,omitempty"`
}

// Package is the score of one package.
type Package struct {
	Package string `json:"package"`
	// Mutants is how many there are, NotCompiled how many could not be made.
	Mutants     int      `json:"mutants"`
	NotCompiled int      `json:"notCompiled"`
	Results     []Result `json:"results"`
}

// Run measures packages: each is compiled with all its mutants, its tests are run without
// one, and then once for each mutant of the sample. It is an error when tests fail without a
// mutant, and when the list of equivalents is wrong.
func Run(ctx context.Context, o Options) ([]Package, error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for mutants: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	targets, err := o.chosen()
	if err != nil {
		return nil, err
	}
	sizes := make([]int, len(targets))
	var wrong []error
	for i, target := range targets {
		found, err := list(ctx, o.Root, dir, target)
		if err != nil {
			return nil, err
		}
		sizes[i] = len(found)
		wrong = append(wrong, stale(o.Equivalent, target, found)...)
	}
	var out []Package
	for i, n := range shares(sizes, o.Sample) {
		p, err := o.measurePackage(ctx, filepath.Join(dir, strconv.Itoa(i)), targets[i], n)
		if err != nil {
			return out, fmt.Errorf("%s: %w", targets[i].Package, err)
		}
		fmt.Fprintln(o.Progress, p.line())
		out = append(out, p)
		for _, r := range p.Results {
			if r.Equivalent != "" && r.Outcome == Killed {
				wrong = append(wrong, fmt.Errorf("equivalent.yaml has a mutant that %s kills: %s", r.By, r.Mutant))
			}
		}
	}
	return out, errors.Join(wrong...)
}

func (o Options) chosen() ([]Target, error) {
	if len(o.Packages) == 0 {
		return o.Targets.Targets, nil
	}
	var out []Target
	for _, name := range o.Packages {
		found := false
		for _, t := range o.Targets.Targets {
			if of, ok := t.of(name); ok {
				out, found = append(out, of), true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown package or file %q: not in targets.yaml", name)
		}
	}
	return out, nil
}

// stale finds rows for a package that match no mutant of it.
func stale(rows []Equivalent, target Target, found []Mutant) []error {
	var wrong []error
	for _, row := range rows {
		if path.Dir(row.File) == path.Clean(target.Package) && (target.only == "" || target.only == path.Base(row.File)) && !slices.ContainsFunc(found, func(m Mutant) bool { return row.matches(m, target) }) {
			wrong = append(wrong, fmt.Errorf("equivalent.yaml: no such mutant: %s %s %s: %s", row.File, row.Func, row.Operator, row.Snippet))
		}
	}
	return wrong
}

// measurePackage runs a sample of n mutants of one package. The directory is gone afterwards.
func (o Options) measurePackage(ctx context.Context, dir string, target Target, n int) (Package, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Package{}, fmt.Errorf("make a directory for mutants: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	b, err := build(ctx, o.Root, dir, target)
	if err != nil {
		return Package{}, err
	}
	results, err := o.measure(ctx, target, b, choose(b.mutants, n, o.Seed))
	if err != nil {
		return Package{}, err
	}
	return Package{Package: target.Package, Mutants: len(b.mutants), NotCompiled: b.refused, Results: results}, nil
}

func (o Options) measure(ctx context.Context, target Target, b built, sample []Mutant) ([]Result, error) {
	var suites []testSuite
	for _, bin := range b.binaries {
		s, err := o.baseline(ctx, bin)
		if err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	results := make([]Result, len(sample))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Jobs))
	for i, m := range sample {
		group.Go(func() error {
			r := Result{Mutant: m, Outcome: Unreached}
			for _, row := range o.Equivalent {
				if row.matches(m, target) {
					r.Equivalent = row.Why
				}
			}
			for _, s := range suites {
				if !s.reached[m.id] {
					continue
				}
				var text []byte
				var err error
				if r.Outcome, text, err = s.run(ctx, s.limit, "FIRSTLIGHT_MUTANT="+strconv.Itoa(m.id)); err != nil {
					return fmt.Errorf("%s: %w", m, err)
				}
				if r.Outcome != Survived {
					r.By = failedTest(text)
					break
				}
			}
			results[i] = r
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("run mutants: %w", err)
	}
	return results, nil
}

// testSuite is a test binary, and what it does without a mutant.
type testSuite struct {
	binary
	reached map[int]bool
	limit   time.Duration
}

// baselineLimit ends tests that hang without any mutant.
const baselineLimit = 10 * time.Minute

func (o Options) baseline(ctx context.Context, bin binary) (testSuite, error) {
	s := testSuite{binary: bin, reached: map[int]bool{}}
	file := bin.file + ".reached"
	var begin time.Time
	for _, env := range []string{"FIRSTLIGHT_MUTANTS_REACHED=" + file, "FIRSTLIGHT_MUTANT="} {
		begin = time.Now()
		outcome, text, err := s.run(ctx, baselineLimit, env)
		if err != nil {
			return s, fmt.Errorf("run the tests without a mutant: %w", err)
		}
		if outcome != Survived {
			return s, fmt.Errorf("the tests fail without a mutant:\n%s", text)
		}
	}
	s.limit = max(o.Targets.Limit.Least, time.Duration(o.Targets.Limit.Times*float64(time.Since(begin))))
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return s, fmt.Errorf("read which mutants are reached: %w", err)
	}
	for id := range strings.FieldsSeq(string(data)) {
		n, err := strconv.Atoi(id)
		if err != nil {
			return s, fmt.Errorf("read which mutants are reached: %w", err)
		}
		s.reached[n] = true
	}
	return s, nil
}

// run runs the tests once, with everything that they started. It is an error when ctx ended
// before the tests did: then they show nothing of the mutant.
func (s testSuite) run(ctx context.Context, limit time.Duration, env ...string) (Outcome, []byte, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, s.file, "-test.short", "-test.failfast", "-test.count=1", "-test.timeout=0")
	cmd.Dir = s.dir
	// The nightly tests: all fields are spoilt (checktest.Sample).
	cmd.Env = append(append(os.Environ(), suite.Env+"="+suite.All.String()), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // tests that pass and leave a process
		return Survived, text.Bytes(), nil
	case ctx.Err() != nil:
		return "", nil, fmt.Errorf("the tests were ended: %w", ctx.Err())
	case limited.Err() != nil:
		return TimedOut, text.Bytes(), nil
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case !ok:
		return "", nil, fmt.Errorf("run the tests: %w", err)
	case !exit.Exited():
		return Ended, text.Bytes(), nil
	default:
		return Killed, text.Bytes(), nil
	}
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// failedTest is the innermost test that failed first, or that there was a panic.
func failedTest(text []byte) string {
	if m := failure.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	if bytes.Contains(text, []byte("panic:")) {
		return "panic"
	}
	return ""
}
