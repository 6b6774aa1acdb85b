package nvidia

// DiagStatus is the outcome of a test or of a test on one GPU.
type DiagStatus string

// The outcomes.
const (
	DiagPass   DiagStatus = "Pass"
	DiagSkip   DiagStatus = "Skip"
	DiagWarn   DiagStatus = "Warn"
	DiagFail   DiagStatus = "Fail"
	DiagNotRun DiagStatus = "Not Run"
)

// Severity classes of a warning (dcgm_errors.h).
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

// Diag is one run of the diagnostic.
type Diag struct {
	// Major is the DCGM generation whose document and test names it has: 3 or 4.
	Major   int    `json:"major"`
	Version string `json:"version,omitempty"`
	Driver  string `json:"driver,omitempty"`
	// RuntimeError is why the diagnostic as a whole could not do its work.
	RuntimeError string     `json:"runtimeError,omitempty"`
	Tests        []DiagTest `json:"tests"`
	// Serials of the GPUs by DCGM's number, where the document has them.
	Serials map[int]string `json:"serials,omitempty"`
}

// DiagTest is one test.
type DiagTest struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	// DiagStatus is the worst of the results.
	Status  DiagStatus   `json:"status"`
	Results []DiagResult `json:"results"`
	// Warnings are the summary's: what was found that no result is about.
	Warnings []DiagWarning `json:"warnings,omitempty"`
}

// DiagResult is a test's outcome on one entity, or on the whole node.
type DiagResult struct {
	// Group is "GPU", "CPU", ...; empty for the whole node.
	Group string `json:"group,omitempty"`
	// ID is DCGM's number of the entity; nil for the whole node.
	ID       *int          `json:"id,omitempty"`
	Status   DiagStatus    `json:"status"`
	Warnings []DiagWarning `json:"warnings,omitempty"`
	Info     []string      `json:"info,omitempty"`
}

// DiagWarning is one thing that a test found.
type DiagWarning struct {
	Text     string `json:"text"`
	ErrorID  int    `json:"errorID,omitempty"`
	Category int    `json:"category,omitempty"`
	Severity int    `json:"severity,omitempty"`
}

// rank orders outcomes from good to bad.
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

// worst is the worst outcome; with no results a test has not run.
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
