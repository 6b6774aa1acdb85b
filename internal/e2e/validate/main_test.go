package validate_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/suite"
)

var program binary.Firstlight

func TestMain(m *testing.M) { binary.Main(m, &program, nil, nil) }

// lab starts a lab that ends with the test; upstream programs may have to be built.
func lab(t *testing.T, name string, args ...string) {
	t.Helper()
	suite.Admit(t)
	ctx, cancel := context.WithTimeout(t.Context(), 75*time.Minute)
	defer cancel()
	t.Cleanup(func() {
		if r := program.Run(context.WithoutCancel(t.Context()), "lab", "down", "--name", name); r.Code != 0 {
			t.Errorf("lab down exited %d: %s", r.Code, r.Stderr)
		}
	})
	r := program.Run(ctx, append([]string{"lab", "up", "--name", name, "--with", "karpenter,trainer"}, args...)...)
	if r.Code != 0 {
		t.Fatalf("lab up exited %d:\n%s", r.Code, r.Stderr)
	}
}

// report is the -o json object of validate.
type report struct {
	Run, Verdict, Intent, Evidence, Artifacts string
	Simulated                                 bool
	Steps                                     []struct {
		Name, Title, Verdict, Reason string
		Duration                     float64
		Checks                       []struct {
			Gate, Verdict, Reason string
			Findings              []struct{ Suspect, Message, Remedy string }
		}
	}
}

// stalled is why a step is unobserved since the machine stalled.
func (r report) stalled() string {
	for _, s := range r.Steps {
		for _, c := range s.Checks {
			if c.Verdict == "unobserved" && suite.Stalled(c.Reason) {
				return c.Reason
			}
		}
	}
	return ""
}

// validate runs a validation in a directory of its own; its exit code has to be as wanted. A run on
// which the machine stalled is repeated.
func validate(t *testing.T, code int, args ...string) (report, binary.Result) {
	t.Helper()
	if !slices.Contains(args, "--step") || slices.Contains(args, "ai_inference") {
		defer suite.Share(t, "mpi-operator")() // its port is that of the check's Gateway
	}
	var out report
	var r binary.Result
	suite.Repeat(t, func() string {
		dir := t.TempDir()
		r = program.Run(t.Context(), append([]string{"validate", "-o", "json", "--evidence", filepath.Join(dir, "evidence"), "--artifacts", filepath.Join(dir, "artifacts")}, args...)...)
		out = report{}
		if err := json.Unmarshal([]byte(r.Stdout), &out); err != nil && code != 2 {
			t.Fatalf("firstlight validate %s exited %d, and its output is not JSON: %v\n%s%s", strings.Join(args, " "), r.Code, err, r.Stdout, r.Stderr)
		}
		return out.stalled()
	})
	if r.Code != code {
		t.Fatalf("firstlight validate %s exited %d, want %d\n%s", strings.Join(args, " "), r.Code, code, r.Stderr)
	}
	return out, r
}

// kubeconfig is where the lab's is.
func kubeconfig(t *testing.T, lab string) string {
	t.Helper()
	r := program.Run(t.Context(), "lab", "kubeconfig", "--path", "--name", lab)
	if r.Code != 0 {
		t.Fatalf("lab kubeconfig exited %d: %s", r.Code, r.Stderr)
	}
	return strings.TrimSpace(r.Stdout)
}
