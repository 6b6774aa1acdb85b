package load

// Figures are the requested load and its results.
type Figures struct {
	// Client is where the load generator ran, as the site file names it, and Node its node; empty:
	// on the machine of the run.
	Client string `json:"client,omitempty"`
	Node   string `json:"node,omitempty"`
	// Tool is the version of the load generator in the cluster, Image the imageID of its container.
	Tool  string `json:"tool,omitempty"`
	Image string `json:"image,omitempty"`
	// Unreached is why the load generator could not reach the server; it then sent no request.
	Unreached     string  `json:"unreached,omitempty"`
	RatePerSecond float64 `json:"ratePerSecond"`
	// Concurrency is the maximum number of requests at a time; 0: no limit.
	Concurrency  int `json:"concurrency"`
	Asked        int `json:"asked"`
	Warmup       int `json:"warmup"`
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	// Requests are the measured ones; WarmupRequests those before.
	Requests       []Request `json:"requests"`
	WarmupRequests []Request `json:"warmupRequests,omitempty"`
	// Seconds from the first measured request to the last answer.
	Seconds float64 `json:"seconds"`
	// ClientStall is the longest time, in ms, for which the load generator was not scheduled during
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
// in time, in ms: the total under load (metric LateSum) and the maximum (metric LateMax).
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
	// Lost is set if the error is that of the way to the server: its SSH connection.
	Lost bool `json:"lost,omitempty"`
}

// Percentiles of a distribution.
type Percentiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}
