package nccl

// Run is one invocation of a test.
type Run struct {
	// Version of nccl-tests; empty before 2.17, which does not print it.
	Version string `json:"version,omitempty"`
	// NCCLVersion is the version code of the library (22807 is 2.28.7).
	NCCLVersion int `json:"ncclVersion,omitempty"`
	// Test is the program ("all_reduce_perf") of the first line, or else of the last one; empty if not printed.
	Test     string `json:"test,omitempty"`
	MinBytes int64  `json:"minBytes"`
	MaxBytes int64  `json:"maxBytes"`
	// StepFactor or StepBytes is the step from one size to the next.
	StepFactor int64 `json:"stepFactor,omitempty"`
	StepBytes  int64 `json:"stepBytes,omitempty"`
	// ReducedTo is the largest size whose buffers the memory of a GPU holds, if that is less than MaxBytes; else 0.
	ReducedTo int64 `json:"reducedTo,omitempty"`
	// Validation is the -c argument: 0 disables validation.
	Validation *int     `json:"validation,omitempty"`
	Devices    []Device `json:"devices"`
	Rows       []Row    `json:"rows"`
	// OutOfBounds is the footer's number of failed data checks, one a rank and half of a row; it
	// does not count elements.
	OutOfBounds *int64 `json:"outOfBounds,omitempty"`
	// AvgBusBW is the average over all sizes in the footer.
	AvgBusBW *float64 `json:"avgBusbwGBps,omitempty"`
	// Starting and Concluded are the first and last line of a run of newer versions.
	Starting  bool `json:"starting,omitempty"`
	Concluded bool `json:"concluded,omitempty"`
	// Errors are "# error:" lines and "Test NCCL failure" lines.
	Errors []string `json:"errors,omitempty"`
	// Problems are lines of the table that could not be parsed.
	Problems []string `json:"problems,omitempty"`
}

// Device is one rank.
type Device struct {
	Rank   int    `json:"rank"`
	Group  int    `json:"group"`
	PID    int    `json:"pid"`
	Host   string `json:"host"`
	Device int    `json:"device"`
	BusID  string `json:"busID"`
	Name   string `json:"name"`
}

// Row is one message size.
type Row struct {
	Bytes int64  `json:"bytes"`
	Count int64  `json:"count"`
	Type  string `json:"type"`
	RedOp string `json:"redop"`
	Root  int    `json:"root"`
	// OutOfPlace is nil where only the in-place variant was run.
	OutOfPlace *Side `json:"outOfPlace,omitempty"`
	InPlace    *Side `json:"inPlace,omitempty"`
}

// Side is one half of a row.
type Side struct {
	TimeUS float64 `json:"timeUs"`
	AlgBW  float64 `json:"algbwGBps"`
	BusBW  float64 `json:"busbwGBps"`
	// Wrong is the number of wrong elements; nil (N/A): not validated.
	Wrong *int64 `json:"wrong"`
}

// Complete reports whether the run printed its footer.
func (r Run) Complete() bool {
	return r.OutOfBounds != nil && r.AvgBusBW != nil && r.Concluded == r.Starting
}

// Sides returns the halves of the row that exist.
func (r Row) Sides() []Side {
	var sides []Side
	for _, s := range []*Side{r.OutOfPlace, r.InPlace} {
		if s != nil {
			sides = append(sides, *s)
		}
	}
	return sides
}

// BusBW is the lower bus bandwidth of the halves in GB/s; ok is false for a row without one.
func (r Row) BusBW() (gbps float64, ok bool) {
	for i, s := range r.Sides() {
		if i == 0 || s.BusBW < gbps {
			gbps = s.BusBW
		}
		ok = true
	}
	return gbps, ok
}

// Sizes are the sizes of the parameter line: minBytes to maxBytes by its step; empty if the
// parameters are missing or invalid.
func (r Run) Sizes() []int64 {
	var sizes []int64
	if r.MinBytes <= 0 || r.MaxBytes < r.MinBytes {
		return nil
	}
	for size := r.MinBytes; size <= r.MaxBytes && len(sizes) < maxRows; {
		sizes = append(sizes, size)
		next := size + r.StepBytes
		if r.StepFactor > 1 {
			next = size * r.StepFactor
		}
		if next <= size {
			break
		}
		size = next
	}
	return sizes
}
