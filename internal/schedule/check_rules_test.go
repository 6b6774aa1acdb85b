package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// A verdict is of the selected recipe with the selected scenario; a recipe without a scenario fails by
// its problems, and nothing else is judged.
func TestWhatARecipeIsJudgedBy(t *testing.T) {
	t.Parallel()
	problems := diag.List{
		{Pos: diag.Pos{File: "x.yaml", Line: 7}, Rule: "unknown-component", Severity: diag.Error, Message: "no component x", Remedy: "add it"},
		{Pos: diag.Pos{File: "x.yaml", Line: 9}, Rule: "unknown-component", Severity: diag.Error, Message: "no component y", Remedy: "add it"},
	}
	a := passing(t, "a")
	broken := Case{Recipe: "a", Problems: problems}
	only := func(kind string) func([]check.Observation) []check.Observation {
		return func(obs []check.Observation) []check.Observation {
			return slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Kind != kind })
		}
	}
	for name, tt := range map[string]struct {
		of       Case
		selected string // the fingerprint of the selection
		change   func([]check.Observation) []check.Observation
		want     []string
	}{
		"passed":      {a, a.Fingerprint, nil, []string{"passed"}},
		"nothing":     {a, a.Fingerprint, only(""), []string{"unobserved", "recipe a: was not observed"}},
		"no case":     {a, a.Fingerprint, only(kindState), []string{"unobserved", "recipe a: was not observed"}},
		"no snapshot": {a, a.Fingerprint, only(kindCase), []string{"unobserved", "pods of recipe a: was not observed"}},
		"another scenario with the fingerprint": {a, a.Fingerprint, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindCase, func(c *Case) { c.Scenario.Nodes = nil })
		}, []string{"unobserved", "recipe a: the observed case has the fingerprint"}},
		"a snapshot of another recipe": {a, a.Fingerprint, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindState, func(s *snapshot.State) { s.Recipe = "b" })
		}, []string{"unobserved", `pods of recipe a: the snapshot is of recipe "b"`}},
		"problems":                      {broken, "", only(kindCase), []string{"failed", "x.yaml:7: no component x [unknown-component]", "x.yaml:9: no component y [unknown-component]"}},
		"problems, and a snapshot":      {broken, "", nil, []string{"failed", "x.yaml:7: no component x [unknown-component]", "x.yaml:9: no component y [unknown-component]"}},
		"one problem":                   {Case{Recipe: "a", Problems: problems[1:]}, "", only(kindCase), []string{"failed", "x.yaml:9: no component y [unknown-component]"}},
		"problems of another selection": {broken, "f", only(kindCase), []string{"unobserved", "recipe a: the observed case has the fingerprint"}},
		"a scenario's name is not compared": {a, a.Fingerprint, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindCase, func(c *Case) { c.Scenario.Recipe = "other" })
		}, []string{"passed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := observed(t, tt.of)
			if tt.change != nil {
				obs = tt.change(obs)
			}
			c := Judges(Member{Recipe: "a", Fingerprint: tt.selected})
			j := c.Judge(obs)
			got := []string{string(j.Verdict)}
			for _, f := range j.Findings {
				got = append(got, f.Suspect+": "+f.Message)
			}
			if c.Name() != "a" || len(got) != len(tt.want) {
				t.Fatalf("%q, want %q: %s", got, tt.want, j.Reason)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}

// records keeps observations; it fails at the n-th, if n is positive.
type records struct {
	obs      []check.Observation
	fail     int
	progress []string
}

func (r *records) Record(o check.Observation) (check.Observation, error) {
	if r.obs = append(r.obs, o); len(r.obs) == r.fail {
		return o, errors.New("disk full")
	}
	return o, nil
}

func (r *records) Progress(format string, args ...any) {
	r.progress = append(r.progress, fmt.Sprintf(format, args...))
}

// The case is recorded before the control plane is used, and a recipe without a scenario uses none.
func TestWhatIsObservedOfARecipe(t *testing.T) {
	t.Parallel()
	a := passing(t, "a")
	gone := errors.New("gone")
	for name, tt := range map[string]struct {
		made             Case
		build, open, run error
		fail             int
		kinds            []string
		says             string
	}{
		"observed":            {made: a, kinds: []string{kindCase, kindState}},
		"problems":            {made: Case{Recipe: "a", Problems: diag.List{{Message: "x"}}}, open: gone, kinds: []string{kindCase}},
		"no case":             {made: a, build: gone, says: "gone"},
		"no control plane":    {made: a, open: gone, kinds: []string{kindCase}, says: "gone"},
		"the scenario failed": {made: a, run: gone, kinds: []string{kindCase}, says: "schedule a: gone"},
		"case not stored":     {made: a, fail: 1, kinds: []string{kindCase}, says: "disk full"},
		"state not stored":    {made: a, fail: 2, kinds: []string{kindCase, kindState}, says: "disk full"},
	} {
		c := &Check{
			of:   a.member(),
			make: func() (Case, error) { return tt.made, tt.build },
			runner: func(_ context.Context, progress func(string)) (Runner, error) {
				progress("100 % started")
				return arenaFunc(func(_ context.Context, c scenario.Scenario) (snapshot.State, error) {
					return scenariotest.Simulate(c), tt.run
				}), tt.open
			},
		}
		rec := &records{fail: tt.fail}
		err := c.Observe(t.Context(), rec)
		var kinds []string
		for _, o := range rec.obs {
			kinds = append(kinds, o.Kind)
			if o.Target != "a" || len(o.Figures) == 0 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if diff := cmp.Diff(tt.kinds, kinds); diff != "" || (err == nil) != (tt.says == "") || !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if name == "observed" {
			if j := c.Judge(rec.obs); j.Verdict != check.Passed || !slices.Equal(rec.progress, []string{"100 % started"}) {
				t.Errorf("%s: %s, progress %q", j.Verdict, j.Reason, rec.progress)
			}
		}
	}
}

// Figures that cannot be stored are an error, and no observation.
func TestFiguresThatCannotBeStored(t *testing.T) {
	t.Parallel()
	rec := &records{}
	err := Judges(Member{Recipe: "a"}).record(rec, kindCase, "x", func() {})
	if err == nil || !strings.Contains(err.Error(), "record the recipe-case of a") || len(rec.obs) > 0 {
		t.Errorf("%v, %+v", err, rec.obs)
	}
}
