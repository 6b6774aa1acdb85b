package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/suite"
)

// timesEnv is the directory in which timer notes CPU times, phaseEnv the phase that it
// notes with them.
const (
	timesEnv = "FIRSTLIGHT_SUITE_TIMES"
	phaseEnv = "FIRSTLIGHT_SUITE_PHASE"
)

// event is a line of go test -json.
type event struct {
	Time                          time.Time
	Action, Package, Test, Output string
	Elapsed                       float64 // s
}

// done is a test or, where Test is empty, a package that has ended.
type done struct {
	phase, pkg, test string
	action           string // pass, fail, skip
	wall             time.Duration
}

// recorder prints the progress of a run and keeps the full output.
type recorder struct {
	mu  sync.Mutex // two phases can run at once
	out io.Writer
	// times is the file that timer writes where the run is profiled.
	times    string
	profiled bool
	all      []done
	started  map[string]time.Time // tests that have not ended, by package and name
	lines    map[string][]string  // output of tests that have not ended
	// failures are the reports of failed tests.
	failures []string
	// liveTests are tests by package that were skipped since they run upstream programs.
	liveTests map[string][]string
}

func newRecorder(out io.Writer, dir string, profiled bool) *recorder {
	return &recorder{out: out, profiled: profiled, times: filepath.Join(dir, "times"), started: map[string]time.Time{}, lines: map[string][]string{}, liveTests: map[string][]string{}}
}

// printf prints a line between those of tests.
func (r *recorder) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format, args...)
}

// read records one run of go test. Output of tests that passed is not printed, but for
// lines that say a test was repeated.
func (r *recorder) read(phase string, from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		raw, err := lines.ReadBytes('\n')
		if len(raw) > 0 {
			var e event
			if json.Unmarshal(raw, &e) != nil {
				fmt.Fprintf(r.out, "%s", raw) // of the compiler
			} else {
				r.note(phase, e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
	}
}

func (r *recorder) note(phase string, e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := e.Package + " " + e.Test
	switch e.Action {
	case "run":
		r.started[key] = e.Time
		return
	case "pass", "fail", "skip":
		delete(r.started, key)
	}
	switch e.Action {
	case "build-output": // of the compiler; it names no package
		fmt.Fprint(r.out, e.Output)
		return
	case "output":
		if strings.Contains(e.Output, suite.RepeatedMark) {
			fmt.Fprint(r.out, e.Output)
		}
		r.lines[key] = append(r.lines[key], e.Output)
		return
	case "skip":
		if strings.Contains(strings.Join(r.lines[key], ""), suite.LiveMark) {
			name, _, _ := strings.Cut(e.Test, "/")
			r.liveTests[e.Package] = append(r.liveTests[e.Package], name)
			delete(r.lines, key)
			return // it runs later
		}
		delete(r.lines, key)
	case "pass":
		delete(r.lines, key)
	case "fail":
		r.keepFailure(key, e)
		r.printLines(key)
		if e.Test == "" { // also of tests that did not come to an end: a timeout, a panic
			maps.DeleteFunc(r.started, func(other string, _ time.Time) bool { return strings.HasPrefix(other, e.Package+" ") })
			for _, other := range slices.Sorted(maps.Keys(r.lines)) {
				if strings.HasPrefix(other, e.Package+" ") {
					_, name, _ := strings.Cut(other, " ")
					r.keepFailure(other, event{Package: e.Package, Test: name})
					r.printLines(other)
				}
			}
		}
	default:
		return
	}
	wall := time.Duration(e.Elapsed * float64(time.Second))
	r.all = append(r.all, done{phase: phase, pkg: e.Package, test: e.Test, action: e.Action, wall: wall})
	if e.Test == "" {
		fmt.Fprintf(r.out, "%-4s  %s  %s\n", map[string]string{"pass": "ok", "fail": "FAIL", "skip": "none"}[e.Action], short(e.Package), wall.Round(10*time.Millisecond))
	}
}

func (r *recorder) printLines(key string) {
	for _, line := range r.lines[key] {
		fmt.Fprint(r.out, line)
	}
	delete(r.lines, key)
}

// unfinished prints the tests that have not ended, with what they printed.
func (r *recorder) unfinished() {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "\nnot ended:\n")
	for _, key := range slices.Sorted(maps.Keys(r.started)) {
		fmt.Fprintf(r.out, "  %s, since %s\n", short(key), r.started[key].Format(time.TimeOnly))
		r.printLines(key)
	}
}

// slowest prints the tests that took longest, subtests by themselves.
func (r *recorder) slowest(n int) {
	fmt.Fprintf(r.out, "\nslowest tests:\n")
	for _, d := range r.longest(n) {
		fmt.Fprintf(r.out, "  %8s  %-6s %s %s\n", d.wall.Round(100*time.Millisecond), d.phase, short(d.pkg), d.test)
	}
}

// longest are the n tests that took longest, without those that only ran others.
func (r *recorder) longest(n int) []done {
	parents := map[string]bool{}
	for _, d := range r.all {
		if i := strings.LastIndex(d.test, "/"); i >= 0 {
			parents[d.pkg+" "+d.test[:i]] = true
		}
	}
	var tests []done
	for _, d := range r.all {
		if d.test != "" && !parents[d.pkg+" "+d.test] {
			tests = append(tests, d)
		}
	}
	slices.SortStableFunc(tests, func(a, b done) int { return cmp.Compare(b.wall, a.wall) })
	return tests[:min(n, len(tests))]
}

// counts is the closing line of a run.
func (r *recorder) counts() string {
	n := map[string]int{}
	for _, d := range r.all {
		if d.test != "" {
			n[d.action]++
		}
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", n["pass"], n["fail"], n["skip"])
}

// complete refuses a run of which a phase passed no test, or which found a live test and
// did not run it.
func (r *recorder) complete(phases []string) error {
	var errs []error
	for _, p := range phases {
		if !slices.ContainsFunc(r.all, func(d done) bool { return d.phase == p && d.test != "" && d.action == "pass" }) {
			errs = append(errs, fmt.Errorf("phase %s: no test passed; refusing to report a pass", p))
		}
	}
	if !slices.Contains(phases, phaseLive) {
		return errors.Join(errs...)
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.liveTests)) {
		for _, name := range r.liveTests[pkg] {
			if !slices.ContainsFunc(r.all, func(d done) bool { return d.pkg == pkg && d.test == name && d.phase != phaseUnit }) {
				errs = append(errs, fmt.Errorf("live test %s of %s was not run", name, short(pkg)))
			}
		}
	}
	return errors.Join(errs...)
}

// writeProfile writes where the time went: wall and CPU time of each package, and the
// tests that took longest. CPU time has the test binary's and that of the programs which
// it started and waited for; labs of the pool are not in it.
func (r *recorder) writeProfile(path string, level suite.Level) error {
	cpu, err := readTimes(r.times)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "make %s, %s\n\n| package | phase | wall s | CPU s |\n|---|---|---|---|\n", level, r.counts())
	packages := slices.DeleteFunc(slices.Clone(r.all), func(d done) bool { return d.test != "" || d.action == "skip" })
	slices.SortStableFunc(packages, func(a, b done) int { return cmp.Compare(b.wall, a.wall) })
	for _, d := range packages {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f |\n", short(d.pkg), d.phase, d.wall.Seconds(), cpu[[2]string{d.phase, short(d.pkg)}].Seconds())
	}
	fmt.Fprintf(&b, "\n| test | phase | wall s |\n|---|---|---|\n")
	for _, d := range r.longest(60) {
		fmt.Fprintf(&b, "| %s %s | %s | %.1f |\n", short(d.pkg), d.test, d.phase, d.wall.Seconds())
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// readTimes reads what timer noted: CPU time by phase and directory below the module's.
func readTimes(path string) (map[[2]string]time.Duration, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read CPU times: %w", err)
	}
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("read CPU times: %w", err)
	}
	out := map[[2]string]time.Duration{}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 4 {
			continue // torn by two writers
		}
		ms, err := strconv.Atoi(fields[3])
		dir, relErr := filepath.Rel(wd, fields[1])
		if err == nil && relErr == nil {
			out[[2]string{fields[0], dir}] += time.Duration(ms) * time.Millisecond
		}
	}
	return out, nil
}

// short is a package without the module's path.
func short(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/firstlight/firstlight/")
}
