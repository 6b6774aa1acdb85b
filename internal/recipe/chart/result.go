package chart

// Outcome is the result for one footprint.
type Outcome string

const (
	// Locked means that the lock was written.
	Locked Outcome = "locked"
	// Unchanged means that the file already had the lock.
	Unchanged Outcome = "unchanged"
	// UpToDate means that lock or rules agree with the chart.
	UpToDate Outcome = "up to date"
	// Drifted means that they differ.
	Drifted Outcome = "drift"
	// Unavailable means that no source has the chart.
	Unavailable Outcome = "unavailable"
	// Broken means that the chart cannot be rendered with the recipes' values.
	Broken Outcome = "broken"
	// NotApplicable means that the footprint has no chart, or no recipe deploys it.
	NotApplicable Outcome = "not applicable"
)

// Result is the result for one footprint.
type Result struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Version string `json:"version,omitempty"`
	// Source of the footprint before the update: rendered or documented.
	Source   string    `json:"source"`
	Attempts []Attempt `json:"attempts,omitempty"`
	Outcome  Outcome   `json:"outcome"`
	// Reason explains the outcome in one sentence.
	Reason string `json:"reason"`
	// Renders counts the rendered sets of values, Workloads their workloads in total.
	Renders   int      `json:"renders,omitempty"`
	Workloads int      `json:"workloads,omitempty"`
	Drift     []Drift  `json:"drift,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Failed reports whether the footprint or the recipes need a correction.
func (r *Result) Failed() bool { return r.Outcome == Drifted || r.Outcome == Broken }

// Unobserved reports whether the chart was unavailable.
func (r *Result) Unobserved() bool { return r.Outcome == Unavailable }

func (r *Result) end(o Outcome, reason string) Result {
	r.Outcome, r.Reason = o, reason
	return *r
}
