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

// JobFigures are the figures of the job.
type JobFigures struct {
	Framework   string          `json:"framework"`
	Model       string          `json:"model"`
	Nodes       []string        `json:"nodes"`
	Pods        int             `json:"pods"`
	GPUsPerNode int             `json:"gpusPerNode"`
	Steps       int             `json:"steps"`
	Outcome     gangjob.Outcome `json:"outcome"`
}

// RankFigures are the figures of one pod's log.
type RankFigures struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Index int    `json:"index"`
	// PodStarted is the start time of the container.
	PodStarted time.Time `json:"podStarted,omitzero"`
	Ranks      []Rank    `json:"ranks"`
	// GPUs are the rates of the pod's GPUs alone, measured before the training.
	GPUs []trainer.MatmulGPU `json:"gpus,omitempty"`
	// Checkpoints is the test of the directory for checkpoints: one a pod, if the site has one.
	Checkpoints []trainer.CheckpointTest `json:"checkpoints,omitempty"`
	// PipelineStages and Stragglers are printed by rank 0 of Megatron; 0 and none elsewhere.
	PipelineStages int                         `json:"pipelineStages,omitempty"`
	Stragglers     []trainer.MegatronStraggler `json:"stragglers,omitempty"`
	Failures       []trainer.Failure           `json:"failures,omitempty"`
	// Problems are unreadable lines; LogProblem is why the log could not be read.
	Problems   []string `json:"problems,omitempty"`
	Clipped    bool     `json:"clipped,omitempty"`
	LogProblem string   `json:"logProblem,omitempty"`
}

// Rank is one rank of any framework.
type Rank struct {
	// Rank is -1 for lines without a rank label.
	Rank      int       `json:"rank"`
	Started   time.Time `json:"started,omitzero"`
	Completed bool      `json:"completed"`
	// PrintedPeakTFLOPS is the peak in the trainer's own MFU.
	PrintedPeakTFLOPS *float64 `json:"printedPeakTFLOPS,omitempty"`
	Parameters        int64    `json:"parameters,omitempty"`
	Steps             []Step   `json:"steps"`
}

// Step is one step of one rank.
type Step struct {
	Step int `json:"step"`
	// Ms is its duration; nil if unknown.
	Ms *float64 `json:"stepMs,omitempty"`
	// TokensPerSecond per device.
	TokensPerSecond *float64 `json:"tokensPerSecond,omitempty"`
	TFLOPS          *float64 `json:"tflops,omitempty"`
	// PrintedMFU in percent.
	PrintedMFU *float64 `json:"printedMFUPercent,omitempty"`
	// Loss is nil if it is not finite; LossText is then the printed text.
	Loss     *float64 `json:"loss"`
	LossText string   `json:"lossText,omitempty"`
	Skipped  *int     `json:"skipped,omitempty"`
	NaN      *int     `json:"nan,omitempty"`
}
