package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/plan"
)

// editResult changes the result of a step in the journal of a finished run, and its manifest.
func editResult(t *testing.T, dir, step string, change func(*plan.Result)) {
	t.Helper()
	edit(t, filepath.Join(dir, journalFile), func(data []byte) []byte {
		var out []byte
		for line := range bytes.Lines(data) {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if e.Result != nil && e.Step == step {
				change(e.Result)
			}
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			out = append(append(out, line...), '\n')
		}
		return out
	})
	if err := writeManifest(dir, filepath.Base(dir)); err != nil {
		t.Fatal(err)
	}
}

// A result is judged from exactly the observations that its attempt stored: without the first
// reading of a, which is 0, the sum and the verdict are the same.
func TestAReplayComparesTheObservationsOfAResultWithThoseOnDisk(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *plan.Result, dir string){
		"one left out":       func(r *plan.Result, _ string) { r.Observations = r.Observations[1:] },
		"one twice":          func(r *plan.Result, _ string) { r.Observations = append(r.Observations, r.Observations[0]) },
		"another order":      func(r *plan.Result, _ string) { slices.Reverse(r.Observations[:2]) },
		"of another attempt": func(r *plan.Result, _ string) { r.Attempt = 2 },
		"one more on disk": func(r *plan.Result, dir string) {
			s, err := readObservation(filepath.Join(dir, observationsDir), r.Observations[0])
			if err != nil {
				t.Error(err)
			}
			s.ID = observationID(900, s.Observation)
			if err := writeObservation(filepath.Join(dir, observationsDir), 1, s.Observation); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := finished(t, passingPlan())
			editResult(t, dir, "a", func(r *plan.Result) { change(r, dir) })
			again, err := Replay(dir, testChecks)
			if err != nil || again.Identical() || !strings.Contains(again.Steps[0].Difference, "observation") {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
}

// A replay says which part of the inputs was not compared.
func TestAReplayNamesWhatWasNotCompared(t *testing.T) {
	t.Parallel()
	again, err := Replay(finished(t, testPlan()), func(b *Bundle) (Derived, error) {
		d, err := testChecks(b)
		d.Unchecked = "components not compared"
		return d, err
	})
	if err != nil || again.Unchecked != "components not compared" {
		t.Errorf("%q, %v", again.Unchecked, err)
	}
}

// A step that needs no observation has none.
func TestAReplayFindsTheObservationsOfAStepThatIsNotApplicable(t *testing.T) {
	t.Parallel()
	dir := finished(t, testPlan())
	for _, step := range []string{"d", "e"} {
		editResult(t, dir, step, func(r *plan.Result) { r.Observations = []string{"0001-a-reading-host-0-eth-0"} })
	}
	again, err := Replay(dir, testChecks)
	if err != nil || again.Steps[3].Difference == "" || again.Steps[4].Difference == "" {
		t.Errorf("%+v, %v", again, err)
	}
}

// A Carry that was killed before its journal entry leaves observations that no result has.
func TestAStepThatRunsAfterAKilledCarryHasItsOwnObservations(t *testing.T) {
	t.Parallel()
	from, err := Load(finished(t, passingPlan()))
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, t.TempDir(), passingPlan())
	for _, id := range from.Results()[0].Observations {
		s, err := readObservation(filepath.Join(from.Dir, observationsDir), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeObservation(filepath.Join(r.Dir(), observationsDir), s.Attempt, s.Observation); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(r.Dir(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(execute(t, again, plan.Executor{Plan: passingPlan()}), nil); err != nil {
		t.Fatal(err)
	}
	if replayed, err := Replay(r.Dir(), testChecks); err != nil || !replayed.Identical() {
		t.Errorf("%+v, %v", replayed, err)
	}
}

func TestCarryRefusesAResultThatLeavesOutAnObservation(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	editResult(t, dir, "a", func(r *plan.Result) { r.Observations = r.Observations[1:] })
	from, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, t.TempDir(), passingPlan())
	if _, err := r.Carry(from, []string{"a"}); err == nil || !strings.Contains(err.Error(), "is not in the result") {
		t.Errorf("carried: %v", err)
	}
}

func TestAResultOfAnotherStepIsRefused(t *testing.T) {
	t.Parallel()
	dir := finished(t, passingPlan())
	editResult(t, dir, "a", func(r *plan.Result) { r.Step = "b" })
	if _, err := Replay(dir, testChecks); !errors.Is(err, ErrCorrupt) {
		t.Errorf("replayed: %v", err)
	}
}
