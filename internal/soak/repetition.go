package soak

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
)

// Repetition is one acceptance of a soak.
type Repetition struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	// Finished is the time of the last verdict.
	Finished time.Time     `json:"finished"`
	Verdict  check.Verdict `json:"verdict"`
	// Interrupted: the run did not come to its end in one piece, since its process ended. It counts if
	// a gate failed, and otherwise covers the time until its last verdict.
	Interrupted bool   `json:"interrupted,omitempty"`
	Cluster     string `json:"cluster,omitempty"`
	// Decided is the first gate that did not pass, with its reason.
	Decided   string            `json:"decided,omitempty"`
	LeftOut   []string          `json:"leftOut,omitempty"`
	Simulated evidence.Hardware `json:"simulated"`
	// NarrowedBy are the reasons why the verdict does not cover the whole playbook.
	NarrowedBy []string `json:"narrowedBy,omitempty"`

	results []plan.Result
}

// Repetitions reads the runs of a soak in dir, oldest first. A run whose files were changed, removed or
// cannot be read is unobserved, as is a repetition that ended with an error. A run that cannot be read and that
// the soak does not list is of another command, or of a process that ended before the run began.
func Repetitions(dir string, s State) ([]Repetition, error) {
	runs, err := evidence.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list the repetitions: %w", err)
	}
	out := []Repetition{}
	for _, run := range runs {
		b, err := evidence.Load(filepath.Join(dir, run))
		if err != nil && s.lists(run) {
			out = append(out, Repetition{Run: run, Started: s.Started, Finished: s.Started, Verdict: check.Unobserved, Decided: "its evidence cannot be read: " + err.Error()})
			continue
		}
		if err != nil || b.Header.Soak != s.ID || b.Header.Run != run {
			continue // another run
		}
		r := repetitionOf(b)
		if b.Finished {
			problems, err := evidence.Verify(b.Dir)
			if err != nil {
				return nil, fmt.Errorf("read a repetition: %w", err)
			}
			if len(problems) > 0 {
				r.Verdict, r.Decided = check.Unobserved, "the evidence was changed: "+problems[0].String()
			}
		}
		out = append(out, r)
	}
	for _, a := range s.Attempts {
		missing := a.Run != "" && !slices.ContainsFunc(out, func(r Repetition) bool { return r.Run == a.Run })
		switch {
		case a.Error != "":
			out = cutShort(out, a)
		case missing:
			reason := "its evidence was removed"
			if a.Verdict != "" {
				reason += "; it was " + string(a.Verdict)
			}
			out = append(out, Repetition{Run: a.Run, Started: a.Started, Finished: cmp.Or(a.Ended, a.Started), Verdict: check.Unobserved, Decided: reason})
		}
	}
	// The IDs of two runs of one second have no order.
	slices.SortFunc(out, func(a, b Repetition) int { return a.Started.Compare(b.Started) })
	return out, nil
}

// cutShort marks the repetition of an attempt that ended with an error, or adds one without evidence.
// It is not interrupted: an acceptance that the cluster ends each time would count for nothing.
func cutShort(all []Repetition, a Attempt) []Repetition {
	i := slices.IndexFunc(all, func(r Repetition) bool { return a.Run != "" && r.Run == a.Run })
	if i < 0 {
		return append(all, Repetition{Run: a.Run, Started: a.Started, Finished: a.Ended, Verdict: check.Unobserved, Decided: a.Error})
	}
	r := &all[i]
	r.Interrupted = false
	if r.Verdict != check.Failed {
		r.Verdict, r.Decided = check.Unobserved, a.Error
	}
	return all
}

func repetitionOf(b *evidence.Bundle) Repetition {
	s := b.Summary()
	r := Repetition{
		Run: s.Run, Started: s.Started, Finished: s.Started, Verdict: s.Verdict, Cluster: b.Header.Cluster, Simulated: s.Simulated, NarrowedBy: s.NarrowedBy, results: s.Results,
		Interrupted: !b.Finished || slices.ContainsFunc(b.Entries, func(e evidence.Entry) bool {
			return e.Type == evidence.EntryResumed || e.Type == evidence.EntryInterrupted
		}),
	}
	failed := false
	for _, res := range s.Results {
		if res.At.After(r.Finished) {
			r.Finished = res.At
		}
		failed = failed || res.Verdict == check.Failed
		r.LeftOut = append(r.LeftOut, res.LeftOut...)
		if r.Decided == "" && !res.Verdict.Holds() && res.Verdict != check.NotApplicable {
			r.Decided = fmt.Sprintf("%s: %s", res.Step, res.Reason)
		}
	}
	if r.Interrupted {
		r.Verdict = check.Unobserved
		if failed {
			r.Verdict = check.Failed
		}
	}
	return r
}
