package dcgmi

// Status is the outcome of a test or of a test on one GPU.
type Status string

// The outcomes.
const (
	Pass   Status = "Pass"
	Skip   Status = "Skip"
	Warn   Status = "Warn"
	Fail   Status = "Fail"
	NotRun Status = "Not Run"
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

// GPUs is the entity group of GPUs.
const GPUs = "GPU"

// Diag is one run of the diagnostic.
type Diag struct {
	// Major is the DCGM generation whose document and test names it has: 3 or 4.
	Major   int    `json:"major"`
	Version string `json:"version,omitempty"`
	Driver  string `json:"driver,omitempty"`
	// RuntimeError is why the diagnostic as a whole could not do its work.
	RuntimeError string `json:"runtimeError,omitempty"`
	Tests        []Test `json:"tests"`
	// Serials of the GPUs by DCGM's number, where the document has them.
	Serials map[int]string `json:"serials,omitempty"`
}

// Test is one test.
type Test struct {
	Category string `json:"category"`
	Name     string `json:"name"`
	// Status is the worst of the results.
	Status  Status   `json:"status"`
	Results []Result `json:"results"`
	// Warnings are the summary's: what was found that no result is about.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Result is a test's outcome on one entity, or on the whole node.
type Result struct {
	// Group is "GPU", "CPU", ...; empty for the whole node.
	Group string `json:"group,omitempty"`
	// ID is DCGM's number of the entity; nil for the whole node.
	ID       *int      `json:"id,omitempty"`
	Status   Status    `json:"status"`
	Warnings []Warning `json:"warnings,omitempty"`
	Info     []string  `json:"info,omitempty"`
}

// Warning is one thing that a test found.
type Warning struct {
	Text     string `json:"text"`
	ErrorID  int    `json:"errorID,omitempty"`
	Category int    `json:"category,omitempty"`
	Severity int    `json:"severity,omitempty"`
}

// rank orders outcomes from good to bad.
func (s Status) rank() int {
	switch s {
	case Pass:
		return 0
	case Skip:
		return 1
	case NotRun:
		return 2
	case Warn:
		return 3
	case Fail:
		return 4
	default:
		return 5
	}
}

// worst is the worst outcome; with no results a test has not run.
func worst(results []Result) Status {
	if len(results) == 0 {
		return NotRun
	}
	out := Pass
	for _, r := range results {
		if r.Status.rank() > out.rank() {
			out = r.Status
		}
	}
	return out
}
