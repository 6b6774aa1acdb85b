package plan

import (
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

func kept(verdict check.Verdict, steps ...string) map[string]Result {
	m := map[string]Result{}
	for _, s := range steps {
		m[s] = Result{Step: s, Judgement: check.Judgement{Verdict: verdict, Reason: "earlier"}, Attempt: 7}
	}
	return m
}

func merge(ms ...map[string]Result) map[string]Result {
	all := map[string]Result{}
	for _, m := range ms {
		maps.Copy(all, m)
	}
	return all
}

// A recommended check must have a verdict of any value; if it runs alone, its verdict is the
// verdict of the plan.
func TestRecommended(t *testing.T) {
	t.Parallel()
	steps := func(verdict check.Verdict) Plan {
		p := linear(fakeCheck{name: "a"}, fakeCheck{name: "b", judge: func([]check.Observation) check.Judgement {
			return check.Judgement{Verdict: verdict, Reason: "as it is"}
		}})
		p.Steps[1].Recommended = true
		return p
	}
	only := steps(check.Failed)
	only.Steps[0].Recommended = true
	for name, tt := range map[string]struct {
		w    Executor
		want check.Verdict
	}{
		"failed":              {Executor{Plan: steps(check.Failed)}, check.Passed},
		"unobserved":          {Executor{Plan: steps(check.Unobserved)}, check.Passed},
		"passed":              {Executor{Plan: steps(check.Passed)}, check.Passed},
		"alone":               {Executor{Plan: steps(check.Failed), Only: "b"}, check.Failed},
		"left out":            {Executor{Plan: steps(check.Passed), From: "b"}, check.Unobserved},
		"nothing is demanded": {Executor{Plan: only}, check.Unobserved},
		"without a verdict":   {Executor{Plan: steps(check.Passed), Until: "a"}, check.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tt.w
			w.Store = newMemStore()
			out, err := w.Run(t.Context())
			if err != nil || out.Verdict != tt.want {
				t.Errorf("%s, want %s: %v", out.Verdict, tt.want, err)
			}
		})
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	abcd := linear(fakeCheck{name: "a"}, fakeCheck{name: "b"}, fakeCheck{name: "c"}, fakeCheck{name: "d"})
	tests := map[string]struct {
		w       Executor
		begun   []string
		want    map[string]check.Verdict
		overall check.Verdict
		omitted []string
	}{
		"everything": {
			Executor{}, []string{"a", "b", "c", "d"},
			map[string]check.Verdict{"a": "passed", "b": "passed", "c": "passed", "d": "passed"}, check.Passed, nil,
		},
		"from keeps what is before": {
			Executor{From: "c", Earlier: kept(check.Passed, "a", "b", "c", "d")},
			[]string{"c", "d"},
			map[string]check.Verdict{"a": "passed", "b": "passed", "c": "passed", "d": "passed"}, check.Passed, nil,
		},
		"from over an earlier failure is blocked": {
			Executor{From: "c", Earlier: merge(kept(check.Passed, "a"), kept(check.Failed, "b"))},
			nil,
			map[string]check.Verdict{"a": "passed", "b": "failed", "c": "blocked", "d": "blocked"}, check.Failed, nil,
		},
		"from with no earlier verdict is blocked": {
			Executor{From: "c"},
			nil,
			map[string]check.Verdict{"c": "blocked", "d": "blocked"}, check.Unobserved, []string{"a", "b"},
		},
		"until leaves the rest": {
			Executor{Until: "b"}, []string{"a", "b"},
			map[string]check.Verdict{"a": "passed", "b": "passed"}, check.Passed, []string{"c", "d"},
		},
		"until resumes at the first check without a verdict": {
			Executor{Until: "c", Earlier: merge(kept(check.Passed, "a"), kept(check.Failed, "b"))}, nil,
			map[string]check.Verdict{"a": "passed", "b": "failed", "c": "blocked"}, check.Failed, []string{"d"},
		},
		"until the last is everything": {
			Executor{Until: "d", Earlier: kept(check.Passed, "a", "b")}, []string{"c", "d"},
			map[string]check.Verdict{"a": "passed", "b": "passed", "c": "passed", "d": "passed"}, check.Passed, nil,
		},
		"only needs nothing": {
			Executor{Only: "c"}, []string{"c"},
			map[string]check.Verdict{"c": "passed"}, check.Passed, []string{"a", "b", "d"},
		},
		"only, resumed after its verdict": {
			Executor{Only: "c", Earlier: kept(check.Failed, "c", "b")}, nil,
			map[string]check.Verdict{"c": "failed"}, check.Failed, []string{"a", "b", "d"},
		},
		"resume continues at the first without a verdict": {
			Executor{Earlier: kept(check.Passed, "a", "b")}, []string{"c", "d"},
			map[string]check.Verdict{"a": "passed", "b": "passed", "c": "passed", "d": "passed"}, check.Passed, nil,
		},
		"resume leaves a failure failed": {
			Executor{Earlier: merge(kept(check.Passed, "a"), kept(check.Failed, "b"))}, nil,
			map[string]check.Verdict{"a": "passed", "b": "failed", "c": "blocked", "d": "blocked"}, check.Failed, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tt.w
			w.Plan = abcd
			out, store := runPlan(t, &w)
			var begun []string
			for _, s := range []string{"a", "b", "c", "d"} {
				if store.attempts[s] > 0 {
					begun = append(begun, s)
				}
			}
			if diff := cmp.Diff(tt.begun, begun); diff != "" {
				t.Errorf("begun (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, verdicts(out)); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			if out.Verdict != tt.overall {
				t.Errorf("overall %s, want %s", out.Verdict, tt.overall)
			}
			if diff := cmp.Diff(tt.omitted, out.Omitted); diff != "" {
				t.Errorf("omitted (-want +got):\n%s", diff)
			}
			for _, r := range out.Results {
				if _, k := w.Earlier[r.Step]; k && store.attempts[r.Step] == 0 && r.Verdict != check.Blocked && r.Reason != "earlier" {
					t.Errorf("%s was kept but changed: %+v", r.Step, r)
				}
			}
		})
	}
}

func TestASelectionThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	p := linear(fakeCheck{name: "a"}, fakeCheck{name: "b"})
	for name, w := range map[string]Executor{
		"unknown from":    {Plan: p, From: "x"},
		"unknown only":    {Plan: p, Only: "x"},
		"both":            {Plan: p, From: "a", Only: "b"},
		"unknown earlier": {Plan: p, Earlier: kept(check.Passed, "x")},
		"invalid plan":    {Plan: Plan{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.Store = newMemStore()
			if _, err := w.Run(t.Context()); !errors.Is(err, ErrInvalid) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := (&Executor{Plan: p}).Run(t.Context()); !errors.Is(err, ErrInvalid) {
		t.Errorf("a run without a store: %v", err)
	}
}
