package plan

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Result is the result of one step.
type Result struct {
	Step string `json:"step"`
	check.Judgement
	// Started and Finished are zero for a step that was not observed.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// At is the time of the verdict.
	At time.Time `json:"at"`
	// Attempt counts the starts of the step in its run, from 1; 0 for a step that never
	// started (blocked, not applicable).
	Attempt int `json:"attempt,omitempty"`
	// Observations are the IDs of the judged observations, in order.
	Observations []string `json:"observations,omitempty"`
	// KeptFrom is the ID of the earlier run that the verdict is from.
	KeptFrom string `json:"keptFrom,omitempty"`
	// KeptOf is the cluster of a kept verdict: the UID of its kube-system namespace.
	KeptOf string `json:"keptOf,omitempty"`
}

// Duration is the time from the start of the step to its verdict.
func (r Result) Duration() time.Duration {
	if r.Started.IsZero() {
		return 0
	}
	return r.Finished.Sub(r.Started)
}

// Outcome is the result of Executor.Run.
type Outcome struct {
	// Verdict combines every step of the plan, or is the one step's of a run with Only.
	Verdict check.Verdict `json:"verdict"`
	// Results are in the plan's order.
	Results []Result `json:"results"`
	// Omitted are the steps that the selection excludes and that have no earlier verdict.
	Omitted []string `json:"omitted,omitempty"`
	// Interrupted is set if the context ended first; Pending are the steps without a verdict.
	Interrupted bool     `json:"interrupted,omitempty"`
	Pending     []string `json:"pending,omitempty"`
	// Uncleaned are the errors of the final clean-up. A run with one does not pass.
	Uncleaned []string `json:"uncleaned,omitempty"`
	// Notes are problems that do not affect a verdict: a failed cleanup of one step, which the
	// final clean-up repeats, or an unknown capacity.
	Notes []string `json:"notes,omitempty"`
}

// Event reports progress. It is sent after the change that it reports is durable.
type Event struct {
	Kind EventKind
	At   time.Time
	// Step is empty for an event of the whole run.
	Step string
	// Text is for EventProgress and EventNote, and the observation's ID for EventObserved.
	Text string
	// Result is set for EventVerdict and EventKept.
	Result *Result
}

// EventKind is a kind of Event.
type EventKind string

// The kinds.
const (
	EventStarted  EventKind = "started"
	EventPrepare  EventKind = "prepare"
	EventObserved EventKind = "observed"
	EventProgress EventKind = "progress"
	EventVerdict  EventKind = "verdict"
	EventKept     EventKind = "kept"
	EventNote     EventKind = "note"
)
