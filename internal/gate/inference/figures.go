package inference

import (
	"slices"

	"github.com/firstlight/firstlight/internal/conformance/dra/allocation"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// Kinds of this gate's observations.
const (
	// KindServer is the start of the server.
	KindServer = "vllm-server"
	// KindModels is the answer of /v1/models.
	KindModels = "vllm-models"
	// KindCompletion is the greedy completion of the site's prompt.
	KindCompletion = "vllm-completion"
	// KindLoad is every request of the load.
	KindLoad = "vllm-load"
	// KindEnd is the state of the server after the load.
	KindEnd = "vllm-end"
)

// ServerFigures is the state of the server.
type ServerFigures struct {
	Pod string `json:"pod"`
	// Job is the ID of the batch job that runs the server in place of a pod.
	Job     string `json:"job,omitempty"`
	Node    string `json:"node"`
	Model   string `json:"model"`
	MaxLen  int    `json:"maxModelLen"`
	GPUs    int    `json:"gpus"`
	Healthy bool   `json:"healthy"`
	// WaitedSeconds until it was healthy, or until the timeout.
	WaitedSeconds float64 `json:"waitedSeconds"`
	Restarts      int     `json:"restarts"`
	// Problem is why it is not healthy.
	Problem string `json:"problem,omitempty"`
	// Served are the names under which the server of a job serves.
	Served []string `json:"served,omitempty"`
	// State is that of the job after the load.
	State string `json:"state,omitempty"`
	// Withdrawn is why a job was not the server's alone until the end: preempted, cancelled, suspended, or its state is unknown.
	Withdrawn string `json:"withdrawn,omitempty"`
	// Crashed is set if its container or job terminated.
	Crashed bool `json:"crashed,omitempty"`
	// Unreached is set if the server did not answer the last request to /health.
	Unreached bool `json:"unreached,omitempty"`
	// LastLine is the last line of the log of a server that terminated.
	LastLine string `json:"lastLine,omitempty"`
	// Claims are the GPUs that its claim allocates; nil if it claims none, and after the load.
	Claims *allocation.Figures `json:"claims,omitempty"`
	Log    vllm.LogReport      `json:"log"`
}

// serverName is the name under which only the server of a job serves: another program may listen on a port of its node.
func serverName(job string) string { return "firstlight-job-" + job }

// another is whether another server than that of the job answered.
func (f ServerFigures) another() bool {
	return f.Job != "" && f.Healthy && !slices.Contains(f.Served, serverName(f.Job))
}

func (f ServerFigures) place() place { return place{pod: f.Pod, job: f.Job, node: f.Node} }

// ModelsFigures are the ids of /v1/models.
type ModelsFigures struct {
	Models []string `json:"models"`
	// Failure is how the request failed at the server.
	Failure string `json:"failure,omitempty"`
}

// CompletionFigures is one greedy completion.
type CompletionFigures struct {
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
	// Failure is how the request failed at the server.
	Failure string `json:"failure,omitempty"`
}

// LoadFigures is the requested load and its results.
type LoadFigures = load.Figures

// Request is one request of the load.
type Request = load.Request

// Percentiles of a distribution.
type Percentiles = load.Percentiles

// ServerLate is how late a simulated server was.
type ServerLate = load.ServerLate
