package trainer

import (
	"time"
)

// TorchtitanLog is what one log says, by rank.
type TorchtitanLog struct {
	Ranks    []TorchtitanRank `json:"ranks"`
	Failures []Failure        `json:"failures,omitempty"`
	// Problems are step lines that could not be read.
	Problems []string `json:"problems,omitempty"`
	// Clipped says that a bound was hit and something is not in here.
	Clipped bool `json:"clipped,omitempty"`
}

// TorchtitanRank is one rank's lines.
type TorchtitanRank struct {
	// TorchtitanRank is -1 for lines without a rank label.
	Rank int `json:"rank"`
	// Started is the time of the first line that had one; zero when none had.
	Started time.Time `json:"started,omitzero"`
	// Completed says that the rank printed "Training completed".
	Completed bool `json:"completed"`
	// PeakTFLOPS is the peak that torchtitan computes its MFU from.
	PeakTFLOPS *float64 `json:"peakTFLOPS,omitempty"`
	// TokensPerStep is what a device takes in a step, where the trainer says its
	// batch and sequence (and no parallelism but over data divides it).
	TokensPerStep int64 `json:"tokensPerStep,omitempty"`
	// Parameters of the model, where printed.
	Parameters int64            `json:"parameters,omitempty"`
	Steps      []TorchtitanStep `json:"steps"`
}

// TorchtitanStep is one metric line.
type TorchtitanStep struct {
	Step int `json:"step"`
	// Loss is nil when it is not finite; LossText then says what was printed.
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	// TPS is tokens a second and device.
	TPS    float64  `json:"tokensPerSecond"`
	TFLOPS *float64 `json:"tflops,omitempty"`
	// MFU is the printed one, in percent.
	MFU    *float64 `json:"mfuPercent,omitempty"`
	Memory *float64 `json:"memoryGiB,omitempty"`
}
