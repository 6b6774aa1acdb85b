package collective

import (
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// KindRun is the kind of this gate's observations, one a job.
const KindRun = "nccl-tests"

// Scopes of a job.
const (
	ScopeAll  = "all"
	ScopePair = "pair"
	ScopeNode = "node"
)

// Figures is what is known of one job; its raw output is the log of index 0.
type Figures struct {
	// Scope is "all", "pair" or "node"; Nodes are those that were asked for.
	Scope string   `json:"scope"`
	Nodes []string `json:"nodes"`
	// Job is the workload's name.
	Job         string          `json:"job"`
	GPUsPerNode int             `json:"gpusPerNode"`
	Repetitions int             `json:"repetitions"`
	MinBytes    int64           `json:"minBytes"`
	MaxBytes    int64           `json:"maxBytes"`
	Outcome     gangjob.Outcome `json:"outcome"`
	// Runs are the tables, one a repetition.
	Runs []nccl.Run `json:"runs"`
	NCCL nccl.Log   `json:"nccl"`
	// LogProblem says why the log could not be read or understood.
	LogProblem string `json:"logProblem,omitempty"`
	// LogTail are the last lines of a log without any table.
	LogTail []string `json:"logTail,omitempty"`
}
