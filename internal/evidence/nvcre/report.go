package nvcre

// Report is one certification's results.
type Report struct {
	Name       string       `json:"name"`
	Platform   string       `json:"platform"`
	GPU        string       `json:"gpu"`
	TotalNodes int          `json:"totalNodes"`
	Categories []Category   `json:"categories"`
	Failed     []string     `json:"failedNodes"`
	Result     string       `json:"result"`
	Nodes      []NodeResult `json:"nodeResults,omitempty"`
}

// The results.
const (
	Passed     = "PASSED"
	Incomplete = "INCOMPLETE"
	Failed     = "FAILED"
)

// Category is one step.
type Category struct {
	Domain        string      `json:"domain"`
	Variant       string      `json:"variant"`
	Status        string      `json:"status"`
	FailureReason string      `json:"failureReason,omitempty"`
	Runtime       string      `json:"runtime,omitempty"` // "6m 47s"
	NodesPerJob   int         `json:"nodesPerJob,omitempty"`
	Jobs          int         `json:"jobs,omitempty"`
	FailedGroups  []Group     `json:"failedGroups,omitempty"`
	Bandwidth     []Bandwidth `json:"bandwidth,omitempty"`
	Transport     []string    `json:"transport,omitempty"`
}

// The statuses of a category, and of a node.
const (
	statusSucceeded = "Succeeded"
	statusFailed    = "Failed"
	nodePassed      = "Passed"
)

// Bandwidth is that of the largest message.
type Bandwidth struct {
	Size    string `json:"size"`  // "16 GB"
	AlgBW   string `json:"algBW"` // "208.82 GB/s"
	BusBW   string `json:"busBW"`
	Samples int    `json:"samples"`
}

// Group is a group of nodes that failed.
type Group struct {
	Name      string   `json:"name"`
	NodeCount int      `json:"nodeCount"`
	Nodes     []string `json:"nodes,omitempty"`
	Reason    string   `json:"reason"`
}

// NodeResult is one node.
type NodeResult struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Rack   string `json:"rack,omitempty"`
	Status string `json:"status"`
}
