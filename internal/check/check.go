package check

import (
	"context"
)

// Check is one criterion. Observe does the I/O and records Observations. Judge is a pure
// function of them: the same observations give the same judgement on any machine.
// Thresholds are fields of the Check, taken from the site and the profile when it is
// constructed.
type Check interface {
	// Name identifies the check in plans, journals and on the command line.
	Name() string
	// Observe records Observations. A command or call that fails is recorded as an
	// Observation with Err set; the returned error is for failures that end the check (no
	// cluster, context ended).
	Observe(ctx context.Context, rec Recorder) error
	// Judge decides from the observations of this check alone, in the order
	// they were recorded. It uses no clock, disk or network.
	Judge(obs []Observation) Judgement
}

// Recorder stores Observations. Record returns o with its ID once it is durable.
type Recorder interface {
	Record(o Observation) (Observation, error)
	// Progress reports progress to the user; it is not evidence.
	Progress(format string, args ...any)
}

// Judgement is the result of Judge.
type Judgement struct {
	Verdict Verdict `json:"verdict"`
	// Reason explains the verdict in one line.
	Reason   string    `json:"reason"`
	Figures  []Figure  `json:"figures,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Lowered are thresholds that the site sets below the profile's, each with both values.
	// A pass with a lowered threshold does not meet the profile.
	Lowered []string `json:"lowered,omitempty"`
	// LeftOut are the nodes that a partial verdict leaves out, Nodes is the number of nodes on which
	// it holds. Only the plan sets them.
	LeftOut []string `json:"leftOut,omitempty"`
	Nodes   int      `json:"nodes,omitempty"`
}

// Figure is one headline number of a judgement.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Limit and Relation are the threshold: "busbw >= 350 GB/s".
	// Relation: ">=", "<=", "==", Expected, or empty without a threshold.
	Limit    float64 `json:"limit,omitempty"`
	Relation string  `json:"relation,omitempty"`
	// Source is the profile or site key of the limit, with the profile's own source.
	Source string `json:"source,omitempty"`
}

// Expected is the relation of a figure to an expected value that is not a threshold.
const Expected = "expected <="

// Finding is one thing wrong.
type Finding struct {
	// Suspect is the faulty component, most specific part last: "gpu-02", "gpu-02/gpu3",
	// "gpu-02/mlx5_3", "leaf-3/port5", "pod ns/name", "site facility.signoff".
	Suspect string `json:"suspect"`
	// Message is the observed and the expected value, with figures.
	Message string `json:"message"`
	// Remedy is the next action, as an instruction.
	Remedy string `json:"remedy"`
	// Observations are the IDs of the observations that show it.
	Observations []string `json:"observations,omitempty"`
}

// Fail is a failed judgement. Without findings it adds one with the reason.
func Fail(reason string, findings ...Finding) Judgement {
	if len(findings) == 0 {
		findings = []Finding{{Suspect: "cluster", Message: reason, Remedy: "read the observations in the evidence"}}
	}
	return Judgement{Verdict: Failed, Reason: reason, Findings: findings}
}

// Pass is a passed judgement.
func Pass(reason string, figures ...Figure) Judgement {
	return Judgement{Verdict: Passed, Reason: reason, Figures: figures}
}

// NotObserved is an unobserved judgement.
func NotObserved(reason string, findings ...Finding) Judgement {
	return Judgement{Verdict: Unobserved, Reason: reason, Findings: findings}
}
