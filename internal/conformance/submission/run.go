package submission

import (
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// PartlyShown begins the reason of a verdict that one half of a check was not run
// for, though the other was seen: such a verdict is unobserved, and its
// requirement partially implemented.
const PartlyShown = "partially shown: "

// Run is what a conformance run showed.
type Run struct {
	// ID of the run, Tool the version that made it, Cluster the cluster's UID where known.
	ID, Tool, Cluster string
	// Kubernetes is the API server's version where the run knows it: "v1.36.3".
	Kubernetes        string
	Started, Finished time.Time
	// Simulated says that the hardware is, SimulatedWhy from what that is seen.
	Simulated    bool
	SimulatedWhy string
	// Incomplete says why this is no whole run; empty when it is one.
	Incomplete string
	// Shown is what there is of each requirement, by its ID.
	Shown map[string]Shown
}

// Shown is what a run showed of one requirement.
type Shown struct {
	Verdict check.Verdict
	// Partial says that a half of it was not run.
	Partial bool
	// Reason is why, in one line.
	Reason string
	// Notes are for the reviewer, beside Reason.
	Notes string
	Took  time.Duration
	// Files are its evidence.
	Files []File
}

// File of a submission.
type File struct {
	// Name is relative to the submission's directory, with slashes.
	Name    string
	Content []byte
}

// ShownBy is what a verdict and its reason show.
func ShownBy(v check.Verdict, reason string) Shown {
	return Shown{Verdict: v, Reason: reason, Partial: v == check.Unobserved && strings.HasPrefix(reason, PartlyShown)}
}

// Status is the programme's word for how a product fulfils a requirement.
type Status string

// The statuses.
const (
	Implemented          Status = "Implemented"
	PartiallyImplemented Status = "Partially Implemented"
	NotImplemented       Status = "Not Implemented"
	NotApplicable        Status = "N/A"
)

// Statuses are all of them.
func Statuses() []Status {
	return []Status{Implemented, NotImplemented, PartiallyImplemented, NotApplicable}
}

// Status is what a submission may say; empty when the run did not see enough to
// say anything, with why.
func (s Shown) Status() (status Status, why string) {
	switch s.Verdict {
	case check.Passed:
		if s.Partial {
			return PartiallyImplemented, ""
		}
		return Implemented, ""
	case check.Failed:
		return NotImplemented, ""
	case check.NotApplicable:
		if strings.TrimSpace(s.Reason) == "" {
			return "", "is not applicable, and nothing says why"
		}
		return NotApplicable, ""
	case check.Unobserved:
		if s.Partial {
			return PartiallyImplemented, ""
		}
		return "", "could not be observed: " + s.Reason
	case check.Blocked:
		return "", "was blocked: " + s.Reason
	default:
		return "", "has no verdict"
	}
}
