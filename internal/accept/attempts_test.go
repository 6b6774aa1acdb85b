package accept

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/localhost"
)

// bandwidth is a check that fails below 10. stop, if set, ends the run after the reading is recorded.
type bandwidth struct {
	step  string
	value int
	stop  context.CancelFunc
}

func (b bandwidth) Name() string { return b.step }

func (b bandwidth) Observe(ctx context.Context, rec check.Recorder) error {
	o, err := check.Observation{Kind: "reading", Target: "rail-3"}.WithFigures(b.value)
	if err != nil {
		return err
	}
	if _, err := rec.Record(o); err != nil {
		return err
	}
	if b.stop != nil {
		b.stop()
	}
	return ctx.Err()
}

func (b bandwidth) Judge(obs []check.Observation) check.Judgement {
	for _, o := range obs {
		if value, err := check.Decode[int](o); err != nil || value < 10 {
			return check.Fail("below the limit", check.Finding{Suspect: o.Target, Message: "slow", Remedy: "replace it"})
		}
	}
	return check.Pass("fast enough")
}

// A gate that is interrupted after a failing observation and passes when the run is resumed names the
// first attempt in everything that narrows the verdict, also where the verdict is kept by a later run.
// Regression: such a run had no word about it, and a gate could be repeated until it passed.
func TestAGateCannotBeRepeatedUntilItPasses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(ctx context.Context, from string, b bandwidth) Report {
		t.Helper()
		o := options(t, dir, func(PlanContext) (plan.Plan, error) {
			return plan.Plan{Name: "playbook", Steps: []plan.Step{{Check: b}, {Check: look("last"), Needs: []string{"collective"}}}}, nil
		})
		o.Cluster, o.From = nil, from
		o.Machine = func() (localhost.Machine, error) { return localhost.Machine{ID: "0123"}, nil }
		r, err := Run(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first := run(ctx, "", bandwidth{step: "collective", value: 3, stop: stop})
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	second := run(ctx, "", bandwidth{step: "collective", value: 4, stop: stop})
	third := run(t.Context(), "", bandwidth{step: "collective", value: 12})
	if !first.Interrupted || second.Run != first.Run || third.Run != first.Run || third.Verdict != check.Passed {
		t.Fatalf("%+v %+v %+v", first, second, third)
	}
	kept := run(t.Context(), "last", bandwidth{step: "collective", value: 12})
	for r, in := range map[*Report]string{&third: "", &kept: " in run " + first.Run} {
		for _, attempt := range []string{"1", "2"} {
			want := "collective was begun more than once: attempt " + attempt + in + " ended without a verdict, its observation is judged failed: below the limit (rail-3)"
			if !slices.Contains(r.NarrowedBy, want) {
				t.Errorf("run %s is narrowed by %q, which lacks %q", r.Run, r.NarrowedBy, want)
			}
		}
		path := filepath.Join(dir, r.Run)
		checks := func(*evidence.Bundle) (evidence.Derived, error) {
			return evidence.Derived{Checks: []check.Check{bandwidth{step: "collective"}, look("last")}}, nil
		}
		replayed, err := evidence.Replay(path, checks)
		if err != nil || !replayed.Identical() || len(replayed.Steps) != 4 {
			t.Errorf("replay %+v, %v", replayed, err)
		}
		for _, report := range []string{evidence.VerdictsFileName, "junit.xml", "ctrf.json", "report.html"} {
			data, err := evidence.ReadFile(filepath.Join(path, report))
			if err != nil || !strings.Contains(string(data), "collective was begun more than once") {
				t.Errorf("%s does not name the attempts: %v", report, err)
			}
		}
	}
}
