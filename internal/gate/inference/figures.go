package inference

import (
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
	Pod     string `json:"pod"`
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
	// Crashed is set if its container terminated.
	Crashed bool `json:"crashed,omitempty"`
	// Unreached is set if the server did not answer the last request to /health.
	Unreached bool           `json:"unreached,omitempty"`
	Log       vllm.LogReport `json:"log"`
}

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
	// ClientStall is the longest time, in ms, for which this process was not scheduled during
	// the measurement: latencies below it may be caused by it.
	ClientStall float64 `json:"clientStallMs"`
	// Queue is the mean wait in the server's queue by its metrics, in ms; nil if unknown.
	Queue *float64 `json:"queueMs,omitempty"`
	// ServerTTFT and ServerITL are upper bounds of the p99 by the server's metrics, in ms; nil
	// if unknown.
	ServerTTFT *float64 `json:"serverTTFTMs,omitempty"`
	ServerITL  *float64 `json:"serverITLMs,omitempty"`
	// ServerLate is how late the server's steps were by its metrics; nil without them.
	ServerLate *ServerLate `json:"serverLate,omitempty"`
	// ITL are percentiles of the gaps between all measured pieces, in ms.
	ITL Percentiles `json:"itlMs"`
}

// ServerLate is by how much the server's steps ended late because its machine did not schedule it
// in time, in ms: the total under load (metric lateSum) and the maximum (metric lateMax).
type ServerLate struct {
	Sum float64 `json:"sumMs"`
	Max float64 `json:"maxMs"`
}

// Request is one request of the load; times are in ms.
type Request struct {
	// Due is the planned and Sent the actual send time, from the start.
	Due  float64 `json:"dueMs"`
	Sent float64 `json:"sentMs"`
	// TTFT, TPOT and E2E are measured from Sent; nil if unknown.
	TTFT *float64 `json:"ttftMs,omitempty"`
	TPOT *float64 `json:"tpotMs,omitempty"`
	E2E  *float64 `json:"e2eMs,omitempty"`
	// Tokens generated; FromUsage is set if the server counted them.
	Tokens    int    `json:"tokens"`
	FromUsage bool   `json:"fromUsage"`
	Error     string `json:"error,omitempty"`
	// TimedOut is set if the error is that firstlight's own time was over.
	TimedOut bool `json:"timedOut,omitempty"`
}

// Percentiles of a distribution.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}
