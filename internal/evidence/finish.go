package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/plan"
)

// ChartsFor returns the charts of the observations of a step; nil without charts.
type ChartsFor func(step string, obs []check.Observation) []chart.Chart

// Verdicts is verdicts.json.
type Verdicts struct {
	Run       string        `json:"run"`
	Site      string        `json:"site"`
	Profile   string        `json:"profile"`
	Simulated Hardware      `json:"simulated"`
	Verdict   check.Verdict `json:"verdict"`
	// Only is the only selected step, if the run was limited to one.
	Only string `json:"only,omitempty"`
	// NarrowedBy are the reasons why the verdict does not cover the whole plan in one run.
	NarrowedBy []string      `json:"narrowedBy,omitempty"`
	Started    time.Time     `json:"started"`
	Finished   time.Time     `json:"finished"`
	Results    []plan.Result `json:"results"`
	Omitted    []string      `json:"omitted,omitempty"`
	// Uncleaned are the errors of the final clean-up. A run with one does not pass.
	Uncleaned []string `json:"uncleaned,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Finish finishes the run: it writes the last entry of the journal, the verdicts, the reports
// and, last, the manifest. It only closes an interrupted run.
func (r *Run) Finish(outcome plan.Outcome, charts ChartsFor) error {
	if outcome.Interrupted {
		return r.Close(slices.Concat(outcome.Notes, outcome.Uncleaned)...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.append(Entry{Type: EntryFinished, Verdict: outcome.Verdict, Uncleaned: outcome.Uncleaned, Notes: outcome.Notes})
	if err == nil {
		err = writeReports(r.dir, charts)
	}
	if err == nil {
		err = writeManifest(r.dir, r.header.Run)
	}
	if cerr := r.journal.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("finish run %s: %w", r.header.Run, err)
	}
	return nil
}

// writeReports writes the reports from the files on disk, not from memory.
func writeReports(dir string, charts ChartsFor) error {
	b, err := Load(dir)
	if err != nil {
		return err
	}
	files, err := b.reports(charts)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := writeDurable(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return nil
}

// Summary is the content of verdicts.json.
func (b *Bundle) Summary() Verdicts {
	v := Verdicts{
		Run: b.Header.Run, Site: b.Header.Site, Profile: b.Header.Profile, Simulated: b.Header.Simulated,
		Verdict: b.Verdict(), Only: b.Header.Only, Started: b.Header.Created, Finished: b.Header.Created,
		Results: b.Results(), Uncleaned: b.Uncleaned(), Notes: b.Notes(), NarrowedBy: b.NarrowedBy(),
	}
	if n := len(b.Entries); n > 0 {
		v.Finished = b.Entries[n-1].At
	}
	have := map[string]bool{}
	for _, r := range v.Results {
		have[r.Step] = true
	}
	for _, s := range b.Plan.Steps {
		if !have[s.Name] {
			v.Omitted = append(v.Omitted, s.Name)
		}
	}
	return v
}
