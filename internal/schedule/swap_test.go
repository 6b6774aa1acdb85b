package schedule

import (
	"context"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/scenario/scenariotest"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// passing is a case that a control plane without defects passes.
func passing(t *testing.T, recipe string) Case {
	t.Helper()
	c := scenariotest.Scenario(t, "training")
	c.Recipe = recipe
	return Case{Recipe: recipe, Scenario: c, Fingerprint: scenario.Fingerprint(c)}
}

func simulated(_ context.Context, c scenario.Scenario) (snapshot.State, error) {
	return scenariotest.Simulate(c), nil
}

// observed are the stored observations of a recipe's test.
func observed(t *testing.T, c Case) []check.Observation {
	t.Helper()
	var out []check.Observation
	for kind, v := range map[string]any{kindCase: c, kindState: scenariotest.Simulate(c.Scenario)} {
		o, err := check.Observation{ID: kind, Kind: kind, Target: c.Recipe}.WithFigures(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

func TestAVerdictIsOfTheRecipeThatWasObserved(t *testing.T) {
	t.Parallel()
	a := passing(t, "a")
	if j := Judges(Member{Recipe: "a", Fingerprint: a.Fingerprint}).Judge(observed(t, a)); j.Verdict != check.Passed {
		t.Fatalf("the unchanged observations: %s: %s", j.Verdict, j.Reason)
	}
	for name, tt := range map[string]struct {
		of     Member
		change func(obs []check.Observation) []check.Observation
		reason string
	}{
		"observations of another recipe": {Member{"b", a.Fingerprint}, func(obs []check.Observation) []check.Observation { return obs }, "was not observed"},
		"observations of another recipe under this name": {Member{"b", a.Fingerprint}, func(obs []check.Observation) []check.Observation {
			for i := range obs {
				obs[i].Target = "b"
			}
			return obs
		}, "of recipe a"},
		"snapshot of another recipe": {Member{"a", a.Fingerprint}, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindState, func(s *snapshot.State) { s.Recipe = "b" })
		}, `of recipe "b"`},
		"snapshot without a name": {Member{"a", a.Fingerprint}, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindState, func(s *snapshot.State) { s.Recipe = "" })
		}, `of recipe ""`},
		"case with another fingerprint": {Member{"a", a.Fingerprint}, func(obs []check.Observation) []check.Observation {
			return edited(t, obs, kindCase, func(c *Case) { c.Fingerprint = "f" })
		}, "fingerprint"},
		"case of another selection": {Member{"a", "f"}, func(obs []check.Observation) []check.Observation { return obs }, "fingerprint"},
		"two snapshots":             {Member{"a", a.Fingerprint}, func(obs []check.Observation) []check.Observation { return append(obs, obs...) }, "exactly one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := Judges(tt.of).Judge(tt.change(observed(t, a)))
			if j.Verdict != check.Unobserved || !strings.Contains(j.Reason, tt.reason) {
				t.Errorf("%s: %s, want unobserved: %s", j.Verdict, j.Reason, tt.reason)
			}
		})
	}
}

func edited[T any](t *testing.T, obs []check.Observation, kind string, change func(*T)) []check.Observation {
	t.Helper()
	for i := range obs {
		if obs[i].Kind != kind {
			continue
		}
		v, err := check.Decode[T](obs[i])
		if err != nil {
			t.Fatal(err)
		}
		change(&v)
		if obs[i], err = obs[i].WithFigures(v); err != nil {
			t.Fatal(err)
		}
	}
	return obs
}
