package trainer

import (
	"time"
)

// MegatronLog is what one log says, by rank.
type MegatronLog struct {
	Ranks      []MegatronRank      `json:"ranks"`
	Stragglers []MegatronStraggler `json:"stragglers,omitempty"`
	Failures   []Failure           `json:"failures,omitempty"`
	// Problems are iteration lines that could not be read.
	Problems []string `json:"problems,omitempty"`
	// Clipped says that a bound was hit and something is not in here.
	Clipped bool `json:"clipped,omitempty"`
}

// MegatronRank is one rank's lines.
type MegatronRank struct {
	// MegatronRank is -1 for lines without a rank label.
	Rank int `json:"rank"`
	// Started is the time in the rank's first line that has one.
	Started time.Time `json:"started,omitzero"`
	// Lines counts everything the rank printed.
	Lines     int                 `json:"lines"`
	Completed bool                `json:"completed"`
	Steps     []MegatronIteration `json:"steps"`
}

// MegatronIteration is one iteration line.
type MegatronIteration struct {
	Step  int     `json:"step"`
	Total int     `json:"total"`
	Took  float64 `json:"stepMs"`
	// TFLOPS a GPU.
	TFLOPS   *float64 `json:"tflops,omitempty"`
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	Skipped  *int     `json:"skipped,omitempty"`
	NaN      *int     `json:"nan,omitempty"`
}

// MegatronStraggler is one report of --log-straggler.
type MegatronStraggler struct {
	// MinTFLOPS is the estimated throughput of the slowest rank, MaxTFLOPS of
	// the fastest.
	MinTFLOPS float64 `json:"minTFLOPS"`
	MinRank   int     `json:"minRank"`
	MaxTFLOPS float64 `json:"maxTFLOPS"`
	MaxRank   int     `json:"maxRank"`
}
