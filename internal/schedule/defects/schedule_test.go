package defects_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/runner"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/recipes"
)

// jobs is how many scenarios are under way at one time: most of a scenario's time is waiting.
const jobs = 8

// without is behind the name of a recipe that has no defect.
const without = "-without-defect"

// The test of a recipe with a defect fails, with the cause first, and without
// unexpected causes; the same recipe without the defect passes.
func TestSchedule(t *testing.T) {
	suite.Live(t)
	t.Setenv("FIRSTLIGHT_HOME", t.TempDir())
	defects := some(all(t))
	cases := withAndWithout(t, defects)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out, err := schedule.Test(t.Context(), schedule.Options{
		Selection: schedule.Each(0, cases), Open: open, Jobs: jobs, PerPlane: len(cases),
		EvidenceDir: t.TempDir(), Header: evidence.Header{Tool: "test", Site: label, Simulated: evidence.HardwareSimulated},
	})
	if err != nil {
		t.Fatal(err)
	}
	results := map[string]plan.Result{}
	for _, r := range out.Results {
		results[r.Step] = r
	}
	if len(results) != len(cases) {
		t.Errorf("%d cases, %d results", len(cases), len(results))
	}
	for _, d := range defects {
		if d.Test == nil {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			if r := results[d.Test.Recipe+without]; r.Verdict != check.Passed {
				t.Errorf("%s does not pass without the defect: %s: %s", d.Test.Recipe, r.Verdict, r.Reason)
			}
			r := results[d.Name]
			for _, complaint := range d.Test.hold(r) {
				t.Error(complaint)
			}
			for _, f := range r.Findings[:min(6, len(r.Findings))] {
				t.Logf("%s: %s\n\t%s", f.Suspect, f.Message, f.Remedy)
			}
		})
	}
}

func withAndWithout(t *testing.T, defects []defect) []schedule.Case {
	t.Helper()
	var out []schedule.Case
	add := func(c schedule.Case, name string) {
		c.Recipe, c.Scenario.Recipe = name, name
		out = append(out, c)
	}
	whole, there := source(recipetest.Copy(recipes.FS)), map[string]bool{}
	for _, d := range defects {
		if d.Test == nil {
			continue
		}
		if !there[d.Test.Recipe] {
			there[d.Test.Recipe] = true
			add(caseOf(t, whole, d.Test.Recipe), d.Test.Recipe+without)
		}
		files, _, err := d.apply()
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		add(caseOf(t, source(files), d.Test.Recipe), d.Name)
	}
	return out
}

func open(ctx context.Context, _ func(string)) (schedule.ControlPlane, error) {
	l, end, err := lab.StartThrowaway(ctx, lab.Options{})
	if err != nil {
		return schedule.ControlPlane{}, err
	}
	a, err := runner.Start(ctx, l.RestConfig(), runner.Options{})
	if err != nil {
		return schedule.ControlPlane{}, errors.Join(err, end(context.WithoutCancel(ctx)))
	}
	return schedule.ControlPlane{Runner: a, Close: func(ctx context.Context) error {
		a.Close()
		return end(ctx)
	}}, nil
}
