package check

import (
	"context"
)

// Check is one criterion. Observe does the I/O and records what it saw; Judge
// is a pure function of what was recorded: same observations, same judgement,
// on any machine, years later. Thresholds are part of the Check's own value,
// taken from the site and the profile when it is made.
type Check interface {
	// Name identifies the check in plans, journals and on the command line.
	Name() string
	// Observe records Observations. What could not be seen is recorded as an
	// Observation with Err set; the returned error is for what keeps the
	// check from going on at all (no cluster, context ended).
	Observe(ctx context.Context, rec Recorder) error
	// Judge decides from the observations of this check alone, in the order
	// they were recorded. It never looks at a clock, a disk or a network.
	Judge(obs []Observation) Judgement
}

// Recorder takes Observations. Record returns once o is durable, with its ID set.
type Recorder interface {
	Record(o Observation) (Observation, error)
	// Progress tells a watching person what is going on; it is no evidence.
	Progress(format string, args ...any)
}

// Judgement is what Judge concludes.
type Judgement struct {
	Verdict Verdict `json:"verdict"`
	// Reason says in one line why, for a person.
	Reason   string    `json:"reason"`
	Figures  []Figure  `json:"figures,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	// Lowered are demands that the site has set below the profile's floor, each with both
	// values: what passes with one has not met the profile.
	Lowered []string `json:"lowered,omitempty"`
}

// Figure is one headline number of a judgement.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Limit and Relation say what the value was held against: "busbw >= 350 GB/s".
	// Relation is one of ">=", "<=", "==", Expected, or empty when nothing was demanded.
	Limit    float64 `json:"limit,omitempty"`
	Relation string  `json:"relation,omitempty"`
	// Source is where the limit comes from (profile or site key, with the
	// profile's own source).
	Source string `json:"source,omitempty"`
}

// Expected is the relation of a figure to what is expected of it, and not demanded.
const Expected = "expected <="

// Finding is one thing wrong.
type Finding struct {
	// Suspect names the thing, most specific last: "gpu-02", "gpu-02/gpu3",
	// "gpu-02/mlx5_3", "leaf-3/port5", "pod ns/name", "site facility.signoff".
	Suspect string `json:"suspect"`
	// Message says what was seen against what was expected, with figures.
	Message string `json:"message"`
	// Remedy says what to do next, as an instruction.
	Remedy string `json:"remedy"`
	// Observations are the IDs of the evidence.
	Observations []string `json:"observations,omitempty"`
}

// Fail, Pass and CouldNotObserve build the common judgements.

// Fail is a failed judgement; without findings it adds one, so that no failure is mute.
func Fail(reason string, findings ...Finding) Judgement {
	if len(findings) == 0 {
		findings = []Finding{{Suspect: "cluster", Message: reason, Remedy: "read the gate's observations in the evidence"}}
	}
	return Judgement{Verdict: Failed, Reason: reason, Findings: findings}
}

// Pass is a passed judgement.
func Pass(reason string, figures ...Figure) Judgement {
	return Judgement{Verdict: Passed, Reason: reason, Figures: figures}
}

// CouldNotObserve is an unobserved judgement.
func CouldNotObserve(reason string, findings ...Finding) Judgement {
	return Judgement{Verdict: Unobserved, Reason: reason, Findings: findings}
}
