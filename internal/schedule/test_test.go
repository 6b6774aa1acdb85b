package schedule

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// arenaFunc is an arena by a function.
type arenaFunc func(ctx context.Context, c scenario.Scenario) (snapshot.State, error)

func (f arenaFunc) Run(ctx context.Context, c scenario.Scenario, _ func(string)) (snapshot.State, error) {
	return f(ctx, c)
}

func options(t *testing.T, run arenaFunc, cases ...Case) Options {
	t.Helper()
	return Options{
		Selection: Each(3, cases), Jobs: 2, PerPlane: 2, EvidenceDir: t.TempDir(),
		Header: evidence.Header{Command: []string{"firstlight", "recipe", "test", "--all"}, Simulated: evidence.HardwareSimulated},
		Open: func(context.Context, func(string)) (ControlPlane, error) {
			return ControlPlane{Runner: run, Close: func(context.Context) error { return nil }}, nil
		},
	}
}

func TestARecipeThatNoPodsCanBeMadeOfFails(t *testing.T) {
	t.Parallel()
	o := options(t, nil, Case{Recipe: "broken", Problems: diag.List{{
		Pos: diag.Pos{File: "recipes/overlays/broken.yaml", Line: 7}, Rule: "unknown-component", Severity: diag.Error,
		Message: "there is no component x", Remedy: "add it",
	}}})
	o.Open = func(context.Context, func(string)) (ControlPlane, error) {
		t.Error("a control plane is started for a recipe without pods")
		return ControlPlane{}, errors.New("not wanted")
	}
	out, err := Test(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := o.Selection.Report("recipes", out)
	if r.Verdict != check.Failed || len(r.Recipes) != 1 {
		t.Fatalf("got %+v", r)
	}
	f := r.Recipes[0].Findings[0]
	if f.Suspect != "recipes/overlays/broken.yaml:7" || !strings.Contains(f.Message, "unknown-component") || f.Remedy != "add it" {
		t.Errorf("got %+v", f)
	}
	replayed, err := evidence.Replay(out.Evidence, Derive)
	if err != nil || !replayed.Identical() {
		t.Errorf("replayed: %v, %+v", err, replayed)
	}
}

func TestUnobservedRecipesDoNotPass(t *testing.T) {
	t.Parallel()
	tests := map[string]arenaFunc{
		"the control plane is gone": func(context.Context, scenario.Scenario) (snapshot.State, error) {
			return snapshot.State{}, errors.New("connection refused")
		},
		"an empty state": func(context.Context, scenario.Scenario) (snapshot.State, error) { return snapshot.State{}, nil },
		"it did not come to rest": func(context.Context, scenario.Scenario) (snapshot.State, error) {
			return snapshot.State{NotConverged: "deployment x"}, nil
		},
		"an empty picture of rest": func(context.Context, scenario.Scenario) (snapshot.State, error) {
			return snapshot.State{Converged: true, ResourceVersion: "7"}, nil
		},
	}
	for name, run := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, run, Case{Recipe: "a", Fingerprint: "x"}, Case{Recipe: "b", Fingerprint: "y"}, Case{Recipe: "c", Fingerprint: "z"})
			out, err := Test(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, res := range out.Results {
				if res.Verdict == check.Passed {
					t.Errorf("%s passed: %s", res.Step, res.Reason)
				}
			}
			if len(out.Results) != 3 {
				t.Errorf("%d of 3 recipes have a verdict", len(out.Results))
			}
		})
	}
}

func TestAnInterruptLeavesNoVerdict(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, func(ctx context.Context, _ scenario.Scenario) (snapshot.State, error) {
		cancel()
		<-ctx.Done()
		return snapshot.State{}, ctx.Err()
	}, Case{Recipe: "a", Fingerprint: "x"})
	out, err := Test(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if !out.Interrupted || len(out.Results) != 0 || out.Verdict == check.Passed {
		t.Errorf("got %+v", out)
	}
	if files, err := filepath.Glob(filepath.Join(out.Evidence, "manifest.json")); err != nil || len(files) != 0 {
		t.Errorf("the run is sealed as if it were whole: %v, %v", files, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	one := Case{Recipe: "a"}
	tests := map[string]func(*Options){
		"no recipe":        func(o *Options) { o.Selection = Selection{} },
		"one twice":        func(o *Options) { o.Selection = Each(0, []Case{one, one}) },
		"no job":           func(o *Options) { o.Jobs = 0 },
		"none a plane":     func(o *Options) { o.PerPlane = 0 },
		"nowhere to write": func(o *Options) { o.EvidenceDir = "/proc/nowhere" },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, nil, one)
			change(&o)
			if _, err := Test(t.Context(), o); err == nil {
				t.Error("it was run")
			}
		})
	}
}
