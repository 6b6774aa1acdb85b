// Package gpustack_test runs acceptances on a lab whose GPU stack is NVIDIA's own.
package gpustack_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, nil) }

const lab = "real-stack"

// accept runs all gates.
func accept(t *testing.T) (binary.Acceptance, binary.Result) {
	t.Helper()
	return program.Accept(t, lab, "--stack", "real", "--fresh")
}

// faults are those of the GPU stack and its exporters, each with what only the operator, its
// DaemonSets or Prometheus can have said of it: a finding's message has it.
var faults = []struct{ kind, says string }{
	{"gpu-operator-down", "has no ready pod of 1 desired"},
	{"cuda-validation-failed", "states not ready: [state-operator-validation]"},
	{"driver-upgrade-pending", "is of an older revision of its DaemonSet"},
	{"operator-operand-not-ready", "states not ready: [state-device-plugin]"},
	{"mig-half-applied", "states not ready: [state-device-plugin]"},
	{"nfd-labels-missing", "has no pod of DaemonSet gpu-operator/nvidia-driver-daemonset"},
	{"zero-gpu-nodes", "No GPU node found, watching for new nodes to join the cluster."},
	{"image-digest-mixed", "the nodes run 2 different images"},
	{"exporter-down", "is down"},
	{"exporters-not-scraped", "has no series"},
	{"host-label-dropped", "without a Hostname label"},
	{"samples-from-the-future", "has utilisation series of 0 GPUs"},
}

// TestRealStack accepts a lab with NVIDIA's GPU Operator and Node Feature Discovery: healthy, with
// each fault, and healthy again. Each fault fails its gate, no earlier one.
func TestRealStack(t *testing.T) {
	suite.Require(t, suite.All)
	suite.Admit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute) // upstream programs may have to be built
	defer cancel()
	t.Cleanup(func() {
		if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", lab); r.Code != 0 {
			t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
		}
	})
	if r := program.Run(ctx, "lab", "up", "--name", lab, "--stack", "real"); r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s", r.Code, r.Stderr)
	}
	healthy := func(t *testing.T) {
		if a, r := accept(t); r.Code != 0 || a.Verdict != "passed" || len(a.Gates) != 8 {
			t.Errorf("exit %d, verdict %s, %d gates\n%s", r.Code, a.Verdict, len(a.Gates), r.Stderr)
		}
	}
	t.Run("healthy", healthy)
	t.Run("another stack is refused", func(t *testing.T) {
		r := program.Run(t.Context(), "accept", "--lab", lab, "--stack", "minimal", "--evidence", t.TempDir())
		if r.Code != 2 || !strings.Contains(r.Stderr, "GPU stack real") {
			t.Errorf("exit %d, want 2: %s", r.Code, r.Stderr)
		}
	})
	for _, f := range faults {
		t.Run(f.kind, func(t *testing.T) {
			suite.RequireFault(t, "internal/e2e/gpustack TestRealStack", f.kind)
			var fault struct{ Gate, Suspect string }
			if err := json.Unmarshal([]byte(program.Must(t, "lab", "fault", "add", f.kind, "--name", lab, "-o", "json").Stdout), &fault); err != nil {
				t.Fatal(err)
			}
			defer program.Must(t, "lab", "fault", "clear", "--all", "--name", lab)
			a, r := accept(t)
			if r.Code != 1 {
				t.Errorf("exit %d, want 1", r.Code)
			}
			judge(t, a, fault.Gate, regexp.MustCompile(fault.Suspect), f.says)
		})
	}
	t.Run("healthy again", healthy)
	t.Run("tools in pods", toolsInPods) // the last one: it leaves DCGM enabled
}

// judge requires that the gate has failed, those before it have passed, those after it are blocked, a
// finding names the suspect and one says what was expected.
func judge(t *testing.T, a binary.Acceptance, name string, suspect *regexp.Regexp, says string) {
	t.Helper()
	i := slices.IndexFunc(a.Gates, func(g binary.Gate) bool { return g.Gate == name })
	if i < 0 || a.Gates[i].Verdict != "failed" {
		t.Fatalf("gate %s has not failed: %+v", name, a.Gates)
	}
	for _, g := range a.Gates[:i] {
		if g.Verdict != "passed" {
			t.Errorf("gate %s before %s is %s: %s", g.Gate, name, g.Verdict, g.Reason)
		}
	}
	for _, g := range a.Gates[i+1:] {
		if g.Verdict != "blocked" {
			t.Errorf("gate %s after %s is %s, want blocked: %s", g.Gate, name, g.Verdict, g.Reason)
		}
	}
	named, said := false, false
	for _, f := range a.Gates[i].Findings {
		named, said = named || suspect.MatchString(f.Suspect), said || strings.Contains(f.Message, says)
	}
	if !named || !said {
		t.Errorf("a finding names the suspect %s: %v; one says %q: %v; %+v", suspect, named, says, said, a.Gates[i].Findings)
	}
}
