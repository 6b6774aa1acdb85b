package plan

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/ansible"
)

// fakePlaybook is an ObservingPrepare that calls a function of the test.
type fakePlaybook struct {
	observe func(ctx context.Context, rec check.Recorder, leftOut []string) (bool, error)
}

func (fakePlaybook) Name() string { return "ansible-playbook p.yaml" }

func (fakePlaybook) Run(context.Context, io.Writer, func(string)) (int, error) {
	panic("it is observed")
}

func (f fakePlaybook) Observe(ctx context.Context, rec check.Recorder, leftOut []string) (bool, error) {
	return f.observe(ctx, rec, leftOut)
}

// applied records a playbook on one host; changedAgain: by its second run, too.
func applied(t *testing.T, rec check.Recorder, changedAgain bool) error {
	t.Helper()
	host := []string{"gpu-01"}
	run := func(changed int) playbook.Run {
		return playbook.Run{Result: &ansible.Result{Hosts: map[string]ansible.Host{"gpu-01": {Stats: ansible.Stats{OK: 1, Changed: changed}, Done: 1}}}}
	}
	again := run(0)
	if changedAgain {
		again = run(1)
	}
	begin, err := check.Observation{Kind: playbook.KindRollout}.WithFigures(playbook.Rollout{Playbook: "p.yaml", Hosts: host, Plays: []ansible.Play{{Name: "play #1", Hosts: host}}, Waves: [][]string{host}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Record(begin); err != nil {
		return err
	}
	o, err := check.Observation{Kind: playbook.KindWave}.WithFigures(playbook.Wave{Hosts: host, Applied: run(1), Again: &again})
	if err != nil {
		t.Fatal(err)
	}
	_, err = rec.Record(o)
	return err
}

// The result of a playbook decides with its step: a step whose check would pass fails with it, is not
// observed after it, and never passes without its result.
func TestPlaybookDecides(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		observe  func(ctx context.Context, rec check.Recorder, leftOut []string) (bool, error)
		want     check.Verdict
		says     string
		observed bool
	}{
		"applied": {func(_ context.Context, rec check.Recorder, _ []string) (bool, error) {
			return true, applied(t, rec, false)
		}, check.Passed, "", true},
		"not idempotent": {func(_ context.Context, rec check.Recorder, _ []string) (bool, error) {
			return false, applied(t, rec, true)
		}, check.Failed, "is not idempotent", false},
		"it proceeds although it failed": {func(_ context.Context, rec check.Recorder, _ []string) (bool, error) {
			return true, applied(t, rec, true)
		}, check.Failed, "is not idempotent", true},
		"an error":                   {func(context.Context, check.Recorder, []string) (bool, error) { return true, errors.New("no cluster") }, check.Unobserved, "no cluster", false},
		"a panic":                    {func(context.Context, check.Recorder, []string) (bool, error) { panic("boom") }, check.Unobserved, "boom", false},
		"it stops without a reason":  {func(context.Context, check.Recorder, []string) (bool, error) { return false, nil }, check.Unobserved, "nothing was observed", false},
		"a kind that is not its own": {func(_ context.Context, rec check.Recorder, _ []string) (bool, error) { return true, see(rec, "thing") }, check.Unobserved, "must begin with prepare-", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := linear(fakeCheck{name: "a"})
			p.Steps[0].Prepare = []Prepare{fakePlaybook{tt.observe}}
			out, store := runPlan(t, &Executor{Plan: p})
			r := out.Results[0]
			if r.Verdict != tt.want || !strings.Contains(r.Reason, tt.says) {
				t.Errorf("%s: %s, want %s: %s", r.Verdict, r.Reason, tt.want, tt.says)
			}
			own, _ := split(store.obs["a1"])
			if (len(own) > 0) != tt.observed {
				t.Errorf("the check recorded %+v", own)
			}
		})
	}
}

// A panic of a judge of nodes is unobserved. Nodes that were left out are not required.
func TestPlaybooksAreJudgedSafely(t *testing.T) {
	t.Parallel()
	store := &memory{}
	if err := applied(t, store, false); err != nil {
		t.Fatal(err)
	}
	obs := append(store.obs, check.Observation{Kind: playbook.NodePrefix + "x", Target: "gpu-01"}, check.Observation{Kind: "thing"})
	obs[1], obs[2] = obs[2], obs[1]
	c := fakeCheck{name: "a"}
	for name, tt := range map[string]struct {
		want    playbook.Expected
		leftOut []string
		verdict check.Verdict
	}{
		"no finding":       {playbook.Expected{Once: []bool{false}, Hosts: []string{"gpu-01"}, Nodes: func([]string, []check.Observation) (a, b []check.Finding) { return nil, nil }}, nil, check.Passed},
		"left out":         {playbook.Expected{Hosts: []string{"gpu-01", "gpu-02"}, Nodes: func([]string, []check.Observation) (a, b []check.Finding) { return nil, nil }}, []string{"gpu-02"}, check.Passed},
		"not left out":     {playbook.Expected{Hosts: []string{"gpu-01", "gpu-02"}, Nodes: func([]string, []check.Observation) (a, b []check.Finding) { return nil, nil }}, nil, check.Unobserved},
		"a panic":          {playbook.Expected{Nodes: func([]string, []check.Observation) (a, b []check.Finding) { panic("boom") }}, nil, check.Unobserved},
		"without a judge":  {playbook.Expected{}, nil, check.Unobserved},
		"another playbook": {playbook.Expected{Once: []bool{false, false}, Nodes: func([]string, []check.Observation) (a, b []check.Finding) { return nil, nil }}, nil, check.Unobserved},
	} {
		if j := JudgePart(c, tt.want, obs, tt.leftOut, 0); j.Verdict != tt.verdict {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

type memory struct{ obs []check.Observation }

func (m *memory) Record(o check.Observation) (check.Observation, error) {
	m.obs = append(m.obs, o)
	return o, nil
}

func (*memory) Progress(string, ...any) {}

// The kinds of a preparation are not those of a check.
func TestCheckCannotRecordAPreparation(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a", observe: func(_ context.Context, rec check.Recorder) error { return see(rec, playbook.KindWave) }})
	out, store := runPlan(t, &Executor{Plan: p})
	if out.Verdict == check.Passed || slices.ContainsFunc(store.obs["a1"], func(o check.Observation) bool { return o.Kind == playbook.KindWave }) {
		t.Errorf("%s: %+v", out.Verdict, store.obs["a1"])
	}
}
