package evidencetest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Sum is a check that records Readings and passes when their sum is Wanted.
type Sum struct {
	Step     string
	Readings []int
	Wanted   int
	// Stop ends the run while this step observes; nil: the run continues.
	Stop context.CancelFunc
}

type reading struct {
	Value int `json:"value"`
}

// Name implements check.Check.
func (s Sum) Name() string { return s.Step }

// Observe implements check.Check.
func (s Sum) Observe(ctx context.Context, rec check.Recorder) error {
	for i, v := range s.Readings {
		o, err := check.Observation{
			Kind: "reading", Target: fmt.Sprintf("host-%d", i), Command: "read -n 1", Raw: bytes.Repeat([]byte{byte('a' + i)}, 200),
		}.WithFigures(reading{Value: v})
		if err != nil {
			return err
		}
		if _, err := rec.Record(o); err != nil {
			return err
		}
	}
	if s.Stop != nil {
		s.Stop()
		return ctx.Err()
	}
	return nil
}

// Judge implements check.Check.
func (s Sum) Judge(obs []check.Observation) check.Judgement {
	sum := 0
	for _, o := range obs {
		r, err := check.Decode[reading](o)
		if err != nil {
			return check.NotObserved(err.Error())
		}
		sum += r.Value
	}
	figure := check.Figure{Name: "sum", Value: float64(sum), Unit: "1", Limit: float64(s.Wanted), Relation: "==", Source: "the test"}
	if sum != s.Wanted {
		j := check.Fail(fmt.Sprintf("the sum is %d, not %d", sum, s.Wanted))
		j.Figures = []check.Figure{figure}
		return j
	}
	return check.Pass("the sum is right", figure)
}

// Plan has five steps: a and b pass, c fails, d is blocked by it, e does not apply.
func Plan() plan.Plan {
	return plan.Plan{Name: "playbook", Steps: []plan.Step{
		{Check: Sum{Step: "a", Readings: []int{1, 2}, Wanted: 3}},
		{Check: Sum{Step: "b", Readings: []int{2, 2, 2}, Wanted: 6}, Needs: []string{"a"}},
		{Check: Sum{Step: "c", Readings: []int{4}, Wanted: 9}, Needs: []string{"b"}},
		{Check: Sum{Step: "d", Readings: []int{1}, Wanted: 1}, Needs: []string{"c"}},
		{Check: Sum{Step: "e", Readings: []int{1}, Wanted: 1}, NotApplicable: "not installed"},
	}}
}

// ChecksFor makes the checks of Plan, and Plan.
func ChecksFor(*evidence.Bundle) (evidence.Derived, error) {
	var out evidence.Derived
	for _, s := range Plan().Steps {
		out.Checks = append(out.Checks, s.Check)
	}
	var err error
	out.Plan, err = evidence.DescribePlan(Plan())
	return out, err
}

// Cluster is the identity of the runs' cluster.
const Cluster = "6a0f1a3e-0b52-4d0c-9f1e-2b7d64c1f7aa"

// Start is what the runs are made of.
func Start(p plan.Plan) evidence.Start {
	seed := uint64(42)
	return evidence.Start{
		Header: evidence.Header{
			Tool: "v0.1.0", Command: []string{"firstlight", "validate", "--intent", "training"}, Site: "lab", Profile: "h100-sxm-ndr400",
			Cluster: Cluster, Simulated: evidence.HardwareSimulated, SimulatedWhy: "nodes carry kwok.x-k8s.io/node", Recipe: "h100-lab-training", Seed: &seed,
			Versions: map[string]string{"kube-apiserver": "v1.36.3"},
			Digests:  map[string]string{"kube-apiserver": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		},
		Plan: p, Site: []byte("name: lab\n"), Profile: []byte("name: h100\n"), Recipe: []byte("kind: RecipeResult\n"),
	}
}

// Clock advances by a second at each call, from a fixed time.
func Clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

// zeros is randomness without any.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Finished is the directory of a run of Plan that came to its end.
func Finished(tb testing.TB) string {
	tb.Helper()
	return run(tb.Context(), tb, Plan())
}

// Interrupted is that of one that was interrupted while c was observed.
func Interrupted(tb testing.TB) string {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	p := Plan()
	p.Steps[2].Check = Sum{Step: "c", Readings: []int{4}, Wanted: 9, Stop: cancel}
	return run(ctx, tb, p)
}

func run(ctx context.Context, tb testing.TB, p plan.Plan) string {
	tb.Helper()
	clock := Clock()
	r, err := evidence.Create(tb.TempDir(), Start(p), evidence.Options{Clock: clock, Random: zeros{}})
	if err != nil {
		tb.Fatal(err)
	}
	w := plan.Executor{Plan: p, Store: r, Clock: clock, Capacity: func(context.Context) (int, error) { return 8, nil }}
	out, err := w.Run(ctx)
	if err != nil && !out.Interrupted {
		tb.Fatal(err)
	}
	if err := r.Finish(out, nil); err != nil {
		tb.Fatal(err)
	}
	return r.Dir()
}
