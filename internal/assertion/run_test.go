package assertion

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// later is a cluster that changes: by its n-th question it has shelf n, or the last.
type later struct {
	shelves []*shelf
	every   time.Duration
	began   time.Time
	asked   int
}

func (l *later) Ask(ctx context.Context, r Read) Read {
	l.asked++
	n := min(int(time.Since(l.began)/l.every), len(l.shelves)-1)
	return l.shelves[n].Ask(ctx, r)
}

func run(t *testing.T, text string, rule Rule, cluster Cluster) (outcomes []Outcome, took time.Duration) {
	t.Helper()
	began := time.Now()
	err := Runner{Cluster: cluster, Rule: rule}.Test(t.Context(), load(t, text, Options{})[0], func(o Outcome) error {
		outcomes = append(outcomes, o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcomes, time.Since(began)
}

var (
	oneRuns   = "assert: {timeout: 20s, resource: " + running + "}"
	threeRuns = one(oneRuns) + "    - assert: {timeout: 20s, resource: " + pod + "}\n    - assert: {timeout: 20s, resource: {(length('a')): 1}}\n"
)

func TestRunnerWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := &later{every: 5 * time.Second, began: time.Now(), shelves: []*shelf{{}, objects(t, podOf("x", "a", "Pending")), objects(t, podOf("x", "a", "Running"))}}
		out, took := run(t, one(oneRuns), All, cluster)
		if !out[0].Result.Holds || took != 10*time.Second || out[0].Looks != 21 || out[0].Took != took || !out[0].Began.Equal(cluster.began) {
			t.Errorf("%s, %+v", took, out[0])
		}
	})
}

func TestRunnerEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		rule Rule
		// want is what of the operations held, took how long all of them.
		want []bool
		took time.Duration
		once []bool
	}{
		"Chainsaw stops at what does not hold":   {threeRuns, Chainsaw, []bool{false}, 20 * time.Second, []bool{false}},
		"All reads the rest, without waiting":    {threeRuns, All, []bool{false, false, true}, 20 * time.Second, []bool{false, true, true}},
		"Chainsaw honours continueOnError":       {one("continueOnError: true\n"+oneRuns) + "    - assert: {timeout: 3s, resource: " + pod + "}\n", Chainsaw, []bool{false, false}, 23 * time.Second, []bool{false, false}},
		"Chainsaw gives up at an error":          {one("assert: {timeout: 20s, resource: {($x): 1}}"), Chainsaw, []bool{false}, 0, []bool{false}},
		"All does not: a status may come":        {one("assert: {timeout: 20s, resource: {($x): 1}}"), All, []bool{false}, 20 * time.Second, []bool{false}},
		"bindings are not retried":               {one("assert: {timeout: 20s, bindings: [{name: a, value: ($x)}], resource: {(length('a')): 1}}"), All, []bool{false}, 0, []bool{false}},
		"an error holds as soon as none matches": {one("error: {timeout: 20s, resource: " + running + "}"), All, []bool{true}, 0, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out, took := run(t, tt.text, tt.rule, &shelf{})
				if len(out) != len(tt.want) || took != tt.took {
					t.Fatalf("%d outcomes after %s", len(out), took)
				}
				for i := range out {
					if out[i].Result.Holds != tt.want[i] || out[i].Once != tt.once[i] || out[i].Looks < 1 {
						t.Errorf("%d: %+v", i, out[i])
					}
				}
			})
		})
	}
}

// Bindings are resolved once for a test and a step, as Chainsaw does.
func TestBindingsAreResolvedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := begin + `spec:
  bindings: [{name: before, value: "(length(x_k8s_list($client, 'v1', 'Pod', 'ns').items))"}]
  steps:
  - try:
    - assert: {timeout: 20s, resource: {apiVersion: v1, kind: Pod, metadata: {name: x, namespace: ns}}}
    - assert: {timeout: 1s, resource: {($before): 0, "(length(x_k8s_list($client, 'v1', 'Pod', 'ns').items))": 1}}
`
		out, _ := run(t, text, All, &later{every: 3 * time.Second, began: time.Now(), shelves: []*shelf{{}, objects(t, podOf("x", "a", "Running"))}})
		if len(out) != 2 || !out[0].Result.Holds || !out[1].Result.Holds {
			t.Fatalf("%+v", out)
		}
		if again := out[1].Operation.Evaluate(out[1].Seen, All); !again.Holds {
			t.Errorf("%+v", again)
		}
	})
}

// slow answers only when its caller has no more time.
type slow struct{}

func (slow) Ask(ctx context.Context, r Read) Read {
	<-ctx.Done()
	r.Failure = failureOf(ctx.Err())
	return r
}

func TestRunnerOnAClusterThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, took := run(t, one(oneRuns), All, slow{})
		if took != 25*time.Second || out[0].Result.Holds || !out[0].Result.Unseen || out[0].Looks != 1 {
			t.Errorf("%s, %+v", took, out[0])
		}
	})
}

func TestRunnerStopsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := Runner{Cluster: &shelf{}}.Test(ctx, load(t, one(oneRuns), Options{})[0], func(o Outcome) error {
			t.Errorf("an outcome: %+v", o)
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	failed := errors.New("the disk is full")
	err := Runner{Cluster: &shelf{}}.Test(t.Context(), load(t, one("assert: {resource: {(length('a')): 1}}"), Options{})[0], func(Outcome) error { return failed })
	if !errors.Is(err, failed) {
		t.Error(err)
	}
}
