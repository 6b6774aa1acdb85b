package trainer

import (
	"time"
)

// MegatronLog is one log, by rank.
type MegatronLog struct {
	Ranks []MegatronRank `json:"ranks"`
	// PipelineStages is the size of pipeline parallelism, which rank 0 prints; 0 if it is not in the log.
	PipelineStages int `json:"pipelineStages,omitempty"`
	// Stragglers are in the order of the log.
	Stragglers []MegatronStraggler `json:"stragglers,omitempty"`
	Failures   []Failure           `json:"failures,omitempty"`
	// Problems are iteration lines that could not be parsed.
	Problems []string `json:"problems,omitempty"`
	// Clipped: the log exceeded a bound and the result is incomplete.
	Clipped bool `json:"clipped,omitempty"`
}

// MegatronRank is the output of one rank.
type MegatronRank struct {
	// MegatronRank is -1 for lines without a rank label.
	Rank int `json:"rank"`
	// Started is the first timestamp of the rank.
	Started time.Time `json:"started,omitzero"`
	// Lines is the number of lines of the rank.
	Lines     int                 `json:"lines"`
	Completed bool                `json:"completed"`
	Steps     []MegatronIteration `json:"steps"`
}

// MegatronIteration is one iteration line.
type MegatronIteration struct {
	Step   int     `json:"step"`
	Total  int     `json:"total"`
	StepMS float64 `json:"stepMs"`
	// TFLOPS per GPU.
	TFLOPS   *float64 `json:"tflops,omitempty"`
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	Skipped  *int     `json:"skipped,omitempty"`
	NaN      *int     `json:"nan,omitempty"`
}

// MegatronStraggler is one report of --log-straggler. Rank 0 prints one after every log interval, without the number
// of the step.
type MegatronStraggler struct {
	// MinTFLOPS and MaxTFLOPS are the throughput of the slowest and of the fastest rank, estimated from the time of
	// the forward pass.
	MinTFLOPS float64 `json:"minTFLOPS"`
	MinRank   int     `json:"minRank"`
	MaxTFLOPS float64 `json:"maxTFLOPS"`
	MaxRank   int     `json:"maxRank"`
}
