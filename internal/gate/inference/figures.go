package inference

import (
	"github.com/firstlight/firstlight/internal/probe/vllm"
)

// Kinds of this gate's observations.
const (
	// KindServer is how the server came up.
	KindServer = "vllm-server"
	// KindModels is the answer of /v1/models.
	KindModels = "vllm-models"
	// KindCompletion is the greedy completion of the site's prompt.
	KindCompletion = "vllm-completion"
	// KindLoad is every request of the load.
	KindLoad = "vllm-load"
	// KindEnd is how the server stood after the load.
	KindEnd = "vllm-end"
)

// ServerFigures is how the server stands.
type ServerFigures struct {
	Pod     string `json:"pod"`
	Node    string `json:"node"`
	Model   string `json:"model"`
	MaxLen  int    `json:"maxModelLen"`
	GPUs    int    `json:"gpus"`
	Healthy bool   `json:"healthy"`
	// WaitedSeconds until it was healthy, or until it was given up.
	WaitedSeconds float64 `json:"waitedSeconds"`
	Restarts      int     `json:"restarts"`
	// Problem is why it is not healthy.
	Problem string `json:"problem,omitempty"`
	// Crashed says that its container ended.
	Crashed bool           `json:"crashed,omitempty"`
	Log     vllm.LogReport `json:"log"`
}

// ModelsFigures are the ids of /v1/models.
type ModelsFigures struct {
	Models []string `json:"models"`
}

// CompletionFigures is one greedy completion.
type CompletionFigures struct {
	Prompt string `json:"prompt"`
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
}

// LoadFigures is the load as it was asked for and as it went.
type LoadFigures struct {
	RatePerSecond float64 `json:"ratePerSecond"`
	Concurrency   int     `json:"concurrency"`
	Asked         int     `json:"asked"`
	Warmup        int     `json:"warmup"`
	InputTokens   int     `json:"inputTokens"`
	OutputTokens  int     `json:"outputTokens"`
	// Requests are the measured ones; WarmupRequests those before.
	Requests       []Request `json:"requests"`
	WarmupRequests []Request `json:"warmupRequests,omitempty"`
	// Seconds from the first measured request to the last answer.
	Seconds float64 `json:"seconds"`
	// ClientStall is the longest time, in ms, for which this process did not get
	// to run while it measured: latencies below it are its own.
	ClientStall float64 `json:"clientStallMs"`
	// Queue is how long a request waited on average in the server's queue, in ms, by the
	// server's metrics; nil where they do not tell.
	Queue *float64 `json:"queueMs,omitempty"`
	// ServerTTFT and ServerITL bound the p99 by the server's own metrics, in ms; nil where
	// they do not tell.
	ServerTTFT *float64 `json:"serverTTFTMs,omitempty"`
	ServerITL  *float64 `json:"serverITLMs,omitempty"`
	// Simulation is how far a simulated server ran behind the times that it simulates;
	// nil where the server is a real one.
	Simulation *Simulation `json:"simulation,omitempty"`
	// Gap percentiles over all measured pieces, in ms.
	ITL Percentiles `json:"itlMs"`
}

// Simulation is how late the steps of a simulated server were, since its machine did not
// run it: in all while it was loaded, and at most; in ms.
type Simulation struct {
	Late   float64 `json:"lateMs"`
	Latest float64 `json:"latestMs"`
}

// Request is one request of the load; times are in ms.
type Request struct {
	// Due is when it should have been sent and Sent when it was, from the start.
	Due  float64 `json:"dueMs"`
	Sent float64 `json:"sentMs"`
	// TTFT, TPOT and E2E are from when it was sent; nil where they are not known.
	TTFT *float64 `json:"ttftMs,omitempty"`
	TPOT *float64 `json:"tpotMs,omitempty"`
	E2E  *float64 `json:"e2eMs,omitempty"`
	// Tokens generated; FromUsage says that the server counted them.
	Tokens    int    `json:"tokens"`
	FromUsage bool   `json:"fromUsage"`
	Error     string `json:"error,omitempty"`
}

// Percentiles of something.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}
