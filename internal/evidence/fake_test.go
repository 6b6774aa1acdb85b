package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// counter is a check that records n readings and passes when their sum is wanted.
type counter struct {
	name   string
	n      int
	wanted int
}

type reading struct {
	Value int `json:"value"`
}

func (c counter) Name() string { return c.name }

func (c counter) Observe(_ context.Context, rec check.Recorder) error {
	for i := range c.n {
		o, err := check.Observation{
			Kind: "reading", Target: fmt.Sprintf("host-%d/eth 0", i), Command: "read -n 1",
			Took: metav1.Duration{Duration: time.Millisecond}, Raw: bytes.Repeat([]byte{byte('a' + i)}, 2000),
		}.WithFigures(reading{Value: i})
		if err != nil {
			return err
		}
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	return nil
}

func (c counter) Judge(obs []check.Observation) check.Judgement {
	sum := 0
	var last string
	for _, o := range obs {
		r, err := check.Decode[reading](o)
		if err != nil {
			return check.NotObserved(err.Error())
		}
		sum, last = sum+r.Value, o.ID
	}
	figure := check.Figure{Name: "sum", Value: float64(sum), Unit: "1", Limit: float64(c.wanted), Relation: "==", Source: "the test"}
	if sum != c.wanted {
		j := check.Fail(fmt.Sprintf("the sum is %d, not %d", sum, c.wanted), check.Finding{
			Suspect: "host-1", Message: "reads <wrong> & \"odd\"", Remedy: "replace it", Observations: []string{last},
		})
		j.Figures = []check.Figure{figure}
		return j
	}
	return check.Pass("the sum is right", figure)
}

// four steps: a and b pass, c fails, d is blocked, e does not apply.
func testPlan() plan.Plan {
	return plan.Plan{Name: "playbook", Steps: []plan.Step{
		{Check: counter{"a", 3, 3}},
		{Check: counter{"b", 4, 6}, Needs: []string{"a"}, GPUs: 8},
		{Check: counter{"c", 2, 9}, Needs: []string{"b"}, GPUs: 8},
		{Check: counter{"d", 1, 0}, Needs: []string{"c"}},
		{Check: counter{"e", 1, 0}, NotApplicable: "not installed"},
	}}
}

func passingPlan() plan.Plan {
	p := testPlan()
	p.Steps = p.Steps[:2]
	return p
}

func testChecks(*Bundle) (Derived, error) {
	var out Derived
	for _, s := range testPlan().Steps {
		out.Checks = append(out.Checks, s.Check)
	}
	return out, nil
}

func testStart(p plan.Plan) Start {
	return Start{
		Header: Header{Tool: "v0.1.0", Command: []string{"firstlight", "accept"}, Site: "lab", Profile: "h100-sxm-ndr400", Simulated: HardwareSimulated, SimulatedWhy: "nodes carry kwok.x-k8s.io/node"},
		Plan:   p, Site: []byte("name: lab\n"), Profile: []byte("name: h100\n"),
	}
}

// zeros is randomness without any.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func testOptions() Options {
	at := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	return Options{Random: zeros{}, Clock: func() time.Time { at = at.Add(time.Millisecond); return at }}
}

func create(t *testing.T, dir string, p plan.Plan) *Run {
	t.Helper()
	r, err := Create(dir, testStart(p), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func execute(t *testing.T, r *Run, w plan.Executor) plan.Outcome {
	t.Helper()
	w.Store = r
	out, err := w.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// finished runs p and finishes it: the directory of a run with everything in it.
func finished(t *testing.T, p plan.Plan) string {
	t.Helper()
	r := create(t, t.TempDir(), p)
	if err := r.Finish(execute(t, r, plan.Executor{Plan: p}), nil); err != nil {
		t.Fatal(err)
	}
	return r.Dir()
}

func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, relErr := filepath.Rel(dir, path)
			out, err = append(out, rel), relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

var errTest = errors.New("test")

var _ io.Reader = zeros{}
