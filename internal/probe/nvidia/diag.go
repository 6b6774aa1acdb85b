package nvidia

// DiagStatus is the outcome of a test, or of a test on one GPU.
type DiagStatus string

// The statuses of a test.
const (
	DiagPass   DiagStatus = "Pass"
	DiagSkip   DiagStatus = "Skip"
	DiagWarn   DiagStatus = "Warn"
	DiagFail   DiagStatus = "Fail"
	DiagNotRun DiagStatus = "Not Run"
)

// Severities of a warning (dcgm_errors.h).
const (
	SeverityMonitor = 1
	SeverityIsolate = 2
	SeverityUnknown = 3
	SeverityTriage  = 4
	SeverityConfig  = 5
	SeverityReset   = 6
)

// DiagGroupGPU is the entity group of GPUs.
const DiagGroupGPU = "GPU"

// Diag is one run of dcgmi diag.
type Diag struct {
	// Major is the DCGM generation of the document and its test names: 3 or 4.
	Major   int    `json:"major"`
	Version string `json:"version,omitempty"`
	Driver  string `json:"driver,omitempty"`
	// RuntimeError is why the diagnostic did not run.
	RuntimeError string     `json:"runtimeError,omitempty"`
	Tests        []DiagTest `json:"tests"`
	// Serials are the GPU serial numbers by DCGM index, if the document has them.
	Serials map[int]string `json:"serials,omitempty"`
}

// DiagTest is one test.
type DiagTest struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	// DiagStatus is the worst of the results.
	Status  DiagStatus   `json:"status"`
	Results []DiagResult `json:"results"`
	// Warnings are the warnings of the summary, which belong to no result.
	Warnings []DiagWarning `json:"warnings,omitempty"`
}

// DiagResult is the outcome of a test on one entity, or on the whole node.
type DiagResult struct {
	// Group is "GPU", "CPU", ...; empty for the whole node.
	Group string `json:"group,omitempty"`
	// ID is the DCGM index of the entity; nil for the whole node.
	ID       *int          `json:"id,omitempty"`
	Status   DiagStatus    `json:"status"`
	Warnings []DiagWarning `json:"warnings,omitempty"`
	Info     []string      `json:"info,omitempty"`
}

// DiagWarning is one problem that a test found.
type DiagWarning struct {
	Text     string `json:"text"`
	ErrorID  int    `json:"errorID,omitempty"`
	Category int    `json:"category,omitempty"`
	Severity int    `json:"severity,omitempty"`
}

// rank orders statuses from best to worst.
func (s DiagStatus) rank() int {
	switch s {
	case DiagPass:
		return 0
	case DiagSkip:
		return 1
	case DiagNotRun:
		return 2
	case DiagWarn:
		return 3
	case DiagFail:
		return 4
	default:
		return 5
	}
}

// worst returns the worst status; DiagNotRun without results.
func worst(results []DiagResult) DiagStatus {
	if len(results) == 0 {
		return DiagNotRun
	}
	out := DiagPass
	for _, r := range results {
		if r.Status.rank() > out.rank() {
			out = r.Status
		}
	}
	return out
}
