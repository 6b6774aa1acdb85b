package collective

import (
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/probe/nccl"
)

// KindRun is the kind of this gate's observations, one per job.
const KindRun = "nccl-tests"

// Scopes of a job.
const (
	ScopeAll   = "all"
	ScopePair  = "pair"
	ScopeGroup = "group"
	ScopeNode  = "node"
	ScopeRail  = "rail" // all nodes, over one rail
	// ScopeDomain: the nodes of one NVLink domain.
	ScopeDomain = "nvlink-domain"
)

// Figures are the figures of one job; the raw output is the log of index 0.
type Figures struct {
	// Collective is a name of profile.CollectiveNames; empty: all-reduce.
	Collective string `json:"collective,omitempty"`
	// Scope is "all", "pair", "group", "node", "rail" or "nvlink-domain"; Nodes are the requested nodes.
	Scope string   `json:"scope"`
	Nodes []string `json:"nodes"`
	// Rail is the only device that NCCL may use; empty: all of the site's.
	Rail string `json:"rail,omitempty"`
	// Domain is the NVLink domain of all nodes, as ClusterUUID.CliqueId.
	Domain string `json:"domain,omitempty"`
	// Job is the name of the workload.
	Job         string          `json:"job"`
	GPUsPerNode int             `json:"gpusPerNode"`
	Repetitions int             `json:"repetitions"`
	MinBytes    int64           `json:"minBytes"`
	MaxBytes    int64           `json:"maxBytes"`
	Outcome     gangjob.Outcome `json:"outcome"`
	// Runs are the tables, one per repetition.
	Runs []nccl.Run `json:"runs"`
	NCCL nccl.Log   `json:"nccl"`
	// Rotated: the log of the pod has lost its beginning. A kubelet that rotates a log serves only what came after it.
	Rotated bool `json:"rotated,omitempty"`
	// LogProblem is why the log could not be read or parsed.
	LogProblem string `json:"logProblem,omitempty"`
	// LogTail are the last lines of a log without a table.
	LogTail []string `json:"logTail,omitempty"`
}
