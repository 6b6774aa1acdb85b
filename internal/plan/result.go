package plan

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Result is what became of one step.
type Result struct {
	Step string `json:"step"`
	check.Judgement
	// Started and Finished are zero for a step that was not observed.
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// At is when the verdict was reached.
	At time.Time `json:"at"`
	// Attempt counts how often the step was begun in its run, from 1; 0 when it
	// never was (blocked, not applicable).
	Attempt int `json:"attempt,omitempty"`
	// Observations are the IDs of what was judged, in order.
	Observations []string `json:"observations,omitempty"`
	// KeptFrom is the run that reached this verdict, when it was another one.
	KeptFrom string `json:"keptFrom,omitempty"`
	// KeptOf is the cluster that a kept verdict was reached on: the UID of its kube-system
	// namespace.
	KeptOf string `json:"keptOf,omitempty"`
}

// Duration is how long the step took, from its beginning to its verdict.
func (r Result) Duration() time.Duration {
	if r.Started.IsZero() {
		return 0
	}
	return r.Finished.Sub(r.Started)
}

// Clears says that steps that need this one may go on.
func (r Result) Clears() bool {
	return r.Verdict == check.Passed || r.Verdict == check.NotApplicable
}

// Outcome is what became of a walk.
type Outcome struct {
	// Verdict is over every step of the plan, or over the one step of an
	// only-walk.
	Verdict check.Verdict `json:"verdict"`
	// Results are in the plan's order.
	Results []Result `json:"results"`
	// Omitted are the steps that this walk was told to leave out and for which
	// no earlier verdict was kept.
	Omitted []string `json:"omitted,omitempty"`
	// Interrupted says that the context ended first; Pending are the steps left
	// without a verdict.
	Interrupted bool     `json:"interrupted,omitempty"`
	Pending     []string `json:"pending,omitempty"`
	// Notes tell what went wrong beside the verdicts: what could not be cleaned
	// up, a capacity that could not be asked.
	Notes []string `json:"notes,omitempty"`
}

// Event tells a watching person what is going on. It is sent after what it
// tells is durable.
type Event struct {
	Kind EventKind
	At   time.Time
	// Step it concerns; empty when it concerns the walk.
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
