package training

import (
	"time"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/trainer"
)

// Kinds of this gate's observations.
const (
	// KindJob is the job as a whole, with its pods' outcomes.
	KindJob = "training-job"
	// KindRanks is one pod's log.
	KindRanks = "rank-log"
)

// JobFigures is what is known of the job.
type JobFigures struct {
	Framework   string          `json:"framework"`
	Model       string          `json:"model"`
	Nodes       []string        `json:"nodes"`
	Pods        int             `json:"pods"`
	GPUsPerNode int             `json:"gpusPerNode"`
	Steps       int             `json:"steps"`
	Outcome     gangjob.Outcome `json:"outcome"`
}

// RankFigures is what one pod's log says.
type RankFigures struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Index int    `json:"index"`
	// PodStarted is when the container was started.
	PodStarted time.Time `json:"podStarted,omitzero"`
	Ranks      []Rank    `json:"ranks"`
	// GPUs are what the pod's GPUs computed each on its own, before the training.
	GPUs       []trainer.MatmulGPU         `json:"gpus,omitempty"`
	Stragglers []trainer.MegatronStraggler `json:"stragglers,omitempty"`
	Failures   []trainer.Failure           `json:"failures,omitempty"`
	// Problems are lines that could not be read; LogProblem is why the log could not.
	Problems   []string `json:"problems,omitempty"`
	Clipped    bool     `json:"clipped,omitempty"`
	LogProblem string   `json:"logProblem,omitempty"`
}

// Rank is one rank, whichever framework it ran.
type Rank struct {
	// Rank is -1 for lines without a rank label.
	Rank      int       `json:"rank"`
	Started   time.Time `json:"started,omitzero"`
	Completed bool      `json:"completed"`
	// PrintedPeakTFLOPS is the peak that the trainer computes its own MFU from.
	PrintedPeakTFLOPS *float64 `json:"printedPeakTFLOPS,omitempty"`
	Parameters        int64    `json:"parameters,omitempty"`
	Steps             []Step   `json:"steps"`
}

// Step is one step of one rank.
type Step struct {
	Step int `json:"step"`
	// Ms is how long it took; nil where that can't be told.
	Ms *float64 `json:"stepMs,omitempty"`
	// TokensPerSecond a device.
	TokensPerSecond *float64 `json:"tokensPerSecond,omitempty"`
	TFLOPS          *float64 `json:"tflops,omitempty"`
	// PrintedMFU in percent.
	PrintedMFU *float64 `json:"printedMFUPercent,omitempty"`
	// Loss is nil when it was not finite; LossText is what was printed then.
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	Skipped  *int     `json:"skipped,omitempty"`
	NaN      *int     `json:"nan,omitempty"`
}
