package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
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

var program binary.Firstlight

func TestMain(m *testing.M) {
	binary.Main(m, &program, nil, func(ctx context.Context, _ string) error {
		if r := program.Run(ctx, "lab", "down", "--name", labName); r.Code != 0 {
			return fmt.Errorf("lab down exited %d: %s%s", r.Code, r.Stdout, r.Stderr)
		}
		return nil
	})
}

var startLab = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	r := program.Run(ctx, "lab", "up", "--name", labName)
	if r.Code != 0 {
		return fmt.Errorf("lab up exited %d:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	return nil
})

// sharedLab starts the lab of this package on first use.
func sharedLab(t *testing.T) {
	t.Helper()
	suite.Admit(t)
	if err := startLab(); err != nil {
		t.Fatal(err)
	}
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

// accept runs the command and decodes its output; the exit code is for the caller to judge. A run on which the
// machine stalled is repeated, from the start.
func accept(t *testing.T, args ...string) (a acceptance, r binary.Result) {
	t.Helper()
	suite.Repeat(t, func() string {
		r = program.Run(t.Context(), append([]string{"accept", "-o", "json", "--lab", labName}, args...)...)
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

// healthyResult is a run of the shared lab without a fault, before any test has changed it.
type healthyResult struct {
	binary.Result
	dir string
}

var healthy = sync.OnceValue(func() healthyResult {
	dir := filepath.Join(program.Home, "healthy")
	run := func() binary.Result {
		return program.Run(context.Background(), "accept", "-o", "json", "--lab", labName, "--fresh", "--evidence", dir)
	}
	r := run()
	for range 2 { // as accept does; no test has begun whose log could say so
		var a acceptance
		if json.Unmarshal([]byte(r.Stdout), &a) != nil || !suite.Stalled(a.unobserved()) {
			break
		}
		fmt.Fprintln(os.Stderr, suite.RepeatedMark+": the run without faults")
		r = run()
	}
	return healthyResult{r, dir}
})

// healthyRun is one run for all tests that need one that nothing disturbed, with its
// evidence directory, which they only read.
func healthyRun(t *testing.T) (acceptance, binary.Result, string) {
	t.Helper()
	sharedLab(t)
	w := healthy()
	return decode(t, w.Result), w.Result, w.dir
}

func decode(t *testing.T, r binary.Result) acceptance {
	t.Helper()
	var a acceptance
	if err := json.Unmarshal([]byte(r.Stdout), &a); err != nil {
		t.Fatalf("accept exited %d, and its output is not JSON: %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
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
