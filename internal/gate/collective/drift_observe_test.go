package collective

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/workload"
)

// compared are the observations of a comparison: pairs with all repetitions.
func compared(t *testing.T, obs []check.Observation) int {
	t.Helper()
	n := 0
	for _, o := range obs {
		f, err := check.Decode[Figures](o)
		if err == nil && f.Scope == ScopePair && f.Repetitions > 1 {
			n++
		}
	}
	return n
}

// driftOn is a drift whose jobs run on c, and fail to start from the n-th on; 0: all start.
func driftOn(t *testing.T, c cluster, n int32) Drift {
	t.Helper()
	d := Drift{Gate: testGate(t, manyNodes(8)), ReplaceAt: 0.05}
	var started atomic.Int32
	d.run = func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		if started.Add(1) >= n && n > 0 {
			return gangjob.Outcome{}, nil, errors.New("the API server is gone")
		}
		return c.fake(ctx, l, spec)
	}
	d.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
	return d
}

// Nodes are compared only on a cluster that reaches its limit, and an error ends the observation at once.
func TestWhenNodesAreCompared(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world    cluster
		failFrom int32
		compared bool
		err      bool
	}{
		"a healthy cluster":         {cluster{}, 0, true, false},
		"a cluster below its limit": {cluster{factor: 0.5}, 0, false, false},
		"a slow node":               {cluster{slow: map[string]float64{"gpu-05": 0.6}}, 0, false, false},
		"the run over all nodes":    {cluster{}, 1, false, true},
		"a pair that localises":     {cluster{factor: 0.5}, 2, false, true},
		"a pair that compares":      {cluster{}, 2, false, true},
		"a later pair":              {cluster{}, 6, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, rec := driftOn(t, tt.world, tt.failFrom), &recorder{}
			err := d.Observe(t.Context(), rec)
			if (err != nil) != tt.err || err != nil && !strings.Contains(err.Error(), "the API server is gone") || (compared(t, rec.obs) > 0) != tt.compared {
				t.Errorf("%v, %d pairs compared", err, compared(t, rec.obs))
			}
			if tt.failFrom > 0 && len(rec.obs) >= int(tt.failFrom) {
				t.Errorf("%d observations, although job %d was not started", len(rec.obs), tt.failFrom)
			}
		})
	}
	d := driftOn(t, cluster{}, 0)
	d.launcher = func(context.Context) (*workload.Launcher, error) { return nil, errors.New("no gang scheduler") }
	if err := d.Observe(t.Context(), &recorder{}); err == nil || !strings.Contains(err.Error(), "no gang scheduler") {
		t.Errorf("without a launcher: %v", err)
	}
	rest := driftOn(t, cluster{}, 0)
	rest.site.Workloads.Collective.Suite = []string{profile.AllGather}
	run := rest.run
	rest.run = func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		if strings.Contains(spec.Script, "all_gather_perf") {
			return gangjob.Outcome{}, nil, errors.New("the API server was gone")
		}
		return run(ctx, l, spec)
	}
	rec := &recorder{}
	if err := rest.Observe(t.Context(), rec); err == nil || !strings.Contains(err.Error(), "the API server was gone") || len(rec.obs) != 1 {
		t.Errorf("a collective that was not started: %v, %d observations", err, len(rec.obs))
	}
}

// Nodes that noise leaves in doubt are compared until the timeout of the run over all nodes has passed once more.
func TestTheComparisonOfNodesEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		step   time.Duration // that a job takes
		rounds int
	}{
		"decided within the timeout": {0, 3}, "two rounds take as long": {time.Minute / 4, 2}, "a round takes longer": {time.Minute, 1},
	} {
		clock := clocktesting.NewFakeClock(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
		d := driftOn(t, cluster{}, 0)
		run := d.run
		d.run = func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
			clock.Step(tt.step)
			return run(ctx, l, spec)
		}
		d.deps.Clock = clock
		rec := &reported{}
		if err := d.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		var rounds []string
		for _, text := range rec.progress {
			if strings.HasPrefix(text, "comparing nodes, round ") {
				rounds = append(rounds, text)
			}
		}
		if n := compared(t, rec.obs); len(rounds) != tt.rounds || n != 4*len(rounds) {
			t.Errorf("%s: %d pairs in rounds %q", name, n, rounds)
		}
	}
}

// reported is a recorder that also keeps the progress.
type reported struct {
	recorder
	progress []string
}

func (r *reported) Progress(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, fmt.Sprintf(format, args...))
}

// A pair with a defect was tried: it counts as a run of its nodes, without a bandwidth.
func TestAPairWithADefectWasTried(t *testing.T) {
	t.Parallel()
	d := driftOn(t, cluster{}, 0)
	_, obs := observeDrift(t, d, cluster{})
	i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Target != "all nodes" })
	f, err := check.Decode[Figures](obs[i])
	if err != nil {
		t.Fatal(err)
	}
	nodes := [2]string{f.Nodes[0], f.Nodes[1]}
	if s := d.sample(f); s.Nodes != nodes || len(s.Busbw) != 3 {
		t.Errorf("a healthy pair: %+v", s)
	}
	f.Runs[0].Rows[0].InPlace.Wrong = new(int64(5))
	if s := d.sample(f); s.Nodes != nodes || len(s.Busbw) != 0 {
		t.Errorf("wrong data: %+v", s)
	}
	half := Figures{Runs: []nccl.Run{{Rows: []nccl.Row{{Bytes: 8, InPlace: &nccl.Side{BusBW: 10}}, {Bytes: 8}}}}}
	if got := half.Repeated(1); !slices.Equal(got, []float64{10}) {
		t.Errorf("a row without a bandwidth is not part of the mean: %v", got)
	}
}

// One node that was not compared makes the cluster's nodes unobserved; pairs of another collective compare none.
func TestANodeThatWasNotCompared(t *testing.T) {
	t.Parallel()
	d := driftOn(t, cluster{}, 0)
	_, healthy := observeDrift(t, d, cluster{})
	without := slices.Clone(healthy)
	for i, o := range without {
		if f, err := check.Decode[Figures](o); err == nil && f.Scope == ScopePair && slices.Contains(f.Nodes, "gpu-05") {
			without[i].Err = "did not run"
		}
	}
	j := d.Judge(without)
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-05" || !strings.HasPrefix(j.Findings[0].Message, "1 of 8 nodes could not be compared") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	other := slices.Clone(healthy)
	for i, o := range other {
		f, err := check.Decode[Figures](o)
		if err != nil {
			t.Fatal(err)
		}
		if f.Scope != ScopePair {
			continue
		}
		f.Collective = profile.AllGather
		if other[i], err = o.WithFigures(f); err != nil {
			t.Fatal(err)
		}
	}
	if j := d.Judge(other); j.Verdict != check.Unobserved || !strings.Contains(j.Findings[0].Message, "8 of 8 nodes could not be compared") {
		t.Errorf("pairs of another collective: %s: %+v", j.Verdict, j.Findings)
	}
}
