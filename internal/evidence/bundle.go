package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// Bundle is a stored run.
type Bundle struct {
	Dir           string
	Header        Header
	Plan          PlanFile
	Site, Profile []byte
	// Recipe is nil for a run without recipe.
	Recipe []byte
	// Inputs are the other files that the run is judged against, by name.
	Inputs  map[string][]byte
	Entries []Entry
	// Torn: the last line of the journal is incomplete.
	Torn bool
	// Finished: the manifest exists.
	Finished bool
}

// Load reads the run in dir, which can have any name and be unfinished. It does not verify:
// see Verify.
func Load(dir string) (*Bundle, error) {
	b := &Bundle{Dir: dir, Finished: isFinished(dir)}
	if err := b.load(); err != nil {
		return nil, fmt.Errorf("load the run in %s: %w", dir, err)
	}
	return b, nil
}

func (b *Bundle) load() error {
	var err error
	if b.Header, err = readHeader(b.Dir); err != nil {
		return err
	}
	if err := readJSON(filepath.Join(b.Dir, planFile), &b.Plan); err != nil {
		return err
	}
	var data []byte
	for _, f := range []struct {
		name string
		to   *[]byte
	}{{siteFile, &b.Site}, {profileFile, &b.Profile}, {journalFile, &data}} {
		content, err := ReadFile(filepath.Join(b.Dir, f.name))
		if err != nil {
			return fmt.Errorf("read %s: %w", f.name, err)
		}
		*f.to = content
	}
	recipe, err := ReadFile(filepath.Join(b.Dir, recipeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", recipeFile, err)
	}
	b.Recipe = recipe
	if b.Inputs, err = readInputs(b.Dir); err != nil {
		return err
	}
	entries, whole, err := parseJournal(data)
	b.Entries, b.Torn = entries, whole < len(data)
	return err
}

// state replays the journal.
func (b *Bundle) state() *Run {
	r := newRun(b.Dir, Options{}, nil, b.Header)
	for _, e := range b.Entries {
		r.apply(e)
	}
	return r
}

// Results are the verdicts in the order of the plan.
func (b *Bundle) Results() []plan.Result {
	results := b.state().results
	var out []plan.Result
	for _, s := range b.Plan.Steps {
		if r, ok := results[s.Name]; ok {
			out = append(out, r)
		}
	}
	return out
}

// Interrupted are the started steps without a verdict, sorted.
func (b *Bundle) Interrupted() []string { return slices.Sorted(maps.Keys(b.state().begun)) }

// Verdict is the overall verdict: over every step of the plan, or over the only selected step.
func (b *Bundle) Verdict() check.Verdict { return b.overall(b.state().results) }

// overall is the overall verdict with other results.
func (b *Bundle) overall(results map[string]plan.Result) check.Verdict {
	var steps []plan.Counted
	for _, s := range b.Plan.Steps {
		steps = append(steps, plan.Counted{Name: s.Name, Recommended: s.Recommended})
	}
	uncleaned := b.Uncleaned()
	if !b.ended() {
		uncleaned = append(uncleaned, notEnded)
	}
	return plan.Overall(steps, b.Header.Only, results, uncleaned)
}

// notEnded is why a run of which every step passed does not pass.
const notEnded = "the end of the run and its clean-up were not recorded"

// ended reports whether the journal records the end of the run: a process that is killed while it removes
// the objects of the run leaves some of them.
func (b *Bundle) ended() bool {
	n := len(b.Entries)
	return b.Finished || n > 0 && b.Entries[n-1].Type == EntryFinished
}

// Uncleaned are the errors of the final clean-up. A run with one does not pass.
func (b *Bundle) Uncleaned() []string {
	var out []string
	for _, e := range b.Entries {
		out = append(out, e.Uncleaned...)
	}
	return out
}

// Recommended are the names of the steps whose verdicts do not count in the overall verdict.
func (b *Bundle) Recommended() []string {
	var names []string
	for _, s := range b.Plan.Steps {
		if s.Recommended {
			names = append(names, s.Name)
		}
	}
	return names
}

// Notes are the errors that are not part of a verdict.
func (b *Bundle) Notes() []string {
	var notes []string
	for _, e := range b.Entries {
		notes = append(notes, e.Notes...)
	}
	return notes
}

// Observations reads those with the given IDs, in that order.
func (b *Bundle) Observations(ids []string) ([]check.Observation, error) {
	return readObservations(b.Dir, ids)
}

// Recorded lists the IDs of all observations, including those of attempts without a verdict.
func (b *Bundle) Recorded() ([]string, error) {
	ids, _, err := listObservations(filepath.Join(b.Dir, observationsDir))
	return ids, err
}
