package chart

// Outcome is what became of one footprint.
type Outcome string

// The outcomes.
const (
	// Locked: the lock was written. Unchanged: it was that already.
	Locked    Outcome = "locked"
	Unchanged Outcome = "unchanged"
	// InStep: lock, or rules, say what the chart says. Drifted: they do not.
	InStep  Outcome = "in step"
	Drifted Outcome = "drift"
	// Unavailable: the chart could not be had.
	Unavailable Outcome = "not to be had"
	// Broken: it was had, and can't be rendered with the recipes' values.
	Broken Outcome = "broken"
	// NotApplicable: there is no chart, or no recipe that has it.
	NotApplicable Outcome = "not applicable"
)

// Result is what became of one footprint, and why.
type Result struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Version string `json:"version,omitempty"`
	// Source of the footprint as it was: rendered or documented.
	Source   string    `json:"source"`
	Attempts []Attempt `json:"attempts,omitempty"`
	Outcome  Outcome   `json:"outcome"`
	// Reason says why, in one sentence.
	Reason string `json:"reason"`
	// Renders is how many sets of values were rendered, Workloads how many workloads
	// they have together.
	Renders   int      `json:"renders,omitempty"`
	Workloads int      `json:"workloads,omitempty"`
	Drift     []Drift  `json:"drift,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Failed says that something is wrong that can be put right here.
func (r *Result) Failed() bool { return r.Outcome == Drifted || r.Outcome == Broken }

// Unobserved says that nothing is known, because the chart could not be had.
func (r *Result) Unobserved() bool { return r.Outcome == Unavailable }

func (r *Result) end(o Outcome, reason string) Result {
	r.Outcome, r.Reason = o, reason
	return *r
}
