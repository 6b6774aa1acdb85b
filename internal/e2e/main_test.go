package e2e_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

// labName is the shared lab's; its home is a directory of this test run alone.
const labName = "e2e"

var (
	program binary.Firstlight
	home    string // FIRSTLIGHT_HOME of every command here
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Fprintln(os.Stderr, "e2e: not run with -short")
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "firstlight-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // when the tests are over
	built, err := binary.Build(context.Background(), dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program, home = built, built.Home
	defer stopLabs()
	return m.Run()
}

var startLab = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	r := firstlight(ctx, "lab", "up", "--name", labName)
	if r.code != 0 {
		return fmt.Errorf("lab up exited %d:\n%s%s", r.code, r.stdout, r.stderr)
	}
	return nil
})

func stopLabs() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	names := []string{labName}
	for range cap(chainLabs) {
		names = append(names, <-chainLabs)
	}
	for _, name := range names {
		if r := firstlight(ctx, "lab", "down", "--name", name); r.code != 0 {
			fmt.Fprintf(os.Stderr, "lab down exited %d:\n%s%s", r.code, r.stdout, r.stderr)
		}
	}
}

// sharedLab starts the lab of this package on first use.
func sharedLab(t *testing.T) {
	t.Helper()
	if err := startLab(); err != nil {
		t.Fatal(err)
	}
}

// result is one finished command.
type result struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

func command(ctx context.Context, args ...string) *exec.Cmd {
	return program.Command(ctx, args...)
}

func firstlight(ctx context.Context, args ...string) result {
	return finish(command(ctx, args...))
}

// finish runs cmd to its end.
func finish(cmd *exec.Cmd) result {
	r := binary.Finish(cmd)
	return result{code: r.Code, stdout: r.Stdout, stderr: r.Stderr, took: r.Took}
}

// must runs a command that has to exit 0.
func must(t *testing.T, args ...string) result {
	t.Helper()
	r := firstlight(t.Context(), args...)
	if r.code != 0 {
		t.Fatalf("firstlight %s exited %d:\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

// acceptance is the -o json object of accept.
type acceptance struct {
	Run       string
	Verdict   string
	Simulated bool
	Evidence  string
	Gates     []struct {
		Gate     string
		Verdict  string
		Reason   string
		KeptFrom string
		Started  time.Time
		Findings []struct{ Suspect, Message, Remedy string }
	}
}

// accept walks and decodes; the exit code is for the caller to judge. A walk on which the
// machine stalled is repeated, from the start.
func accept(t *testing.T, args ...string) (a acceptance, r result) {
	t.Helper()
	suite.Repeat(t, func() string {
		r = firstlight(t.Context(), append([]string{"accept", "-o", "json", "--lab", labName}, args...)...)
		a = decode(t, r)
		return a.unobserved()
	})
	return a, r
}

// unobserved is why a gate is unobserved.
func (a acceptance) unobserved() string {
	for _, g := range a.Gates {
		if g.Verdict == "unobserved" {
			return g.Reason
		}
	}
	return ""
}

// walk is a walk of the shared lab without a fault, before any test has changed it.
type walk struct {
	result
	dir string
}

var healthy = sync.OnceValue(func() walk {
	dir := filepath.Join(home, "healthy")
	walked := func() result {
		return firstlight(context.Background(), "accept", "-o", "json", "--lab", labName, "--fresh", "--evidence", dir)
	}
	r := walked()
	for range 2 { // as accept does; no test has begun whose log could say so
		var a acceptance
		if json.Unmarshal([]byte(r.stdout), &a) != nil || !suite.Stalled(a.unobserved()) {
			break
		}
		fmt.Fprintln(os.Stderr, suite.RepeatedMark+": the walk without faults")
		r = walked()
	}
	return walk{r, dir}
})

// healthyWalk is one walk for all tests that need one that nothing disturbed, with its
// evidence directory, which they only read.
func healthyWalk(t *testing.T) (acceptance, result, string) {
	t.Helper()
	sharedLab(t)
	w := healthy()
	return decode(t, w.result), w.result, w.dir
}

func decode(t *testing.T, r result) acceptance {
	t.Helper()
	var a acceptance
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
		t.Fatalf("accept exited %d, and its output is no JSON: %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	return a
}

// verdicts are the gates' in order, for comparison.
func (a acceptance) verdicts() string {
	var out []string
	for _, g := range a.Gates {
		out = append(out, g.Gate+"="+g.Verdict)
	}
	return strings.Join(out, " ")
}

const allPassed = "facility=passed fabric=passed node=passed gpustack=passed telemetry=passed collective=passed training=passed inference=passed"
