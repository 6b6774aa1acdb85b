package trainer

import (
	"time"
)

// TorchtitanLog is one log, by rank.
type TorchtitanLog struct {
	Ranks    []TorchtitanRank `json:"ranks"`
	Failures []Failure        `json:"failures,omitempty"`
	// Problems are step lines that could not be parsed.
	Problems []string `json:"problems,omitempty"`
	// Clipped: the log exceeded a bound and the result is incomplete.
	Clipped bool `json:"clipped,omitempty"`
}

// TorchtitanRank is the output of one rank.
type TorchtitanRank struct {
	// TorchtitanRank is -1 for lines without a rank label.
	Rank int `json:"rank"`
	// Started is the first timestamp of the rank; zero if it printed none.
	Started time.Time `json:"started,omitzero"`
	// Completed: the rank printed "Training completed".
	Completed bool `json:"completed"`
	// PeakTFLOPS is the peak from which torchtitan computes its MFU.
	PeakTFLOPS *float64 `json:"peakTFLOPS,omitempty"`
	// TokensPerStep is the number of tokens per device and step, if the trainer printed its
	// batch size and sequence length. It is valid for data parallelism only.
	TokensPerStep int64 `json:"tokensPerStep,omitempty"`
	// Parameters is the parameter count of the model, if printed.
	Parameters int64            `json:"parameters,omitempty"`
	Steps      []TorchtitanStep `json:"steps"`
}

// TorchtitanStep is one metric line.
type TorchtitanStep struct {
	Step int `json:"step"`
	// Loss is nil if it is not finite; LossText is then the printed text.
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	// TPS is tokens per second and device.
	TPS    float64  `json:"tokensPerSecond"`
	TFLOPS *float64 `json:"tflops,omitempty"`
	// MFU is the printed MFU in percent.
	MFU    *float64 `json:"mfuPercent,omitempty"`
	Memory *float64 `json:"memoryGiB,omitempty"`
}
