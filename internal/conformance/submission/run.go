package submission

import (
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
)

// PartlyShown is the prefix of the reason of a verdict when one half of a check was
// observed and the other was not run: the verdict is unobserved, and the requirement
// partially implemented.
const PartlyShown = "partially shown: "

// Run is the results of a conformance run.
type Run struct {
	// ID of the run, Tool the version of firstlight, Cluster the cluster's UID if known.
	ID, Tool, Cluster string
	// Kubernetes is the API server's version if the run has it: "v1.36.3".
	Kubernetes        string
	Started, Finished time.Time
	// Simulated says whether the hardware is simulated; SimulatedWhy is the reason for it.
	Simulated    evidence.Hardware
	SimulatedWhy string
	// Incomplete is why the run is incomplete; empty for a complete run.
	Incomplete string
	// Shown has the results by requirement ID.
	Shown map[string]Shown
}

// Shown is a run's result of one requirement.
type Shown struct {
	Verdict check.Verdict
	// Partial is set if one half of the check was not run.
	Partial bool
	// Reason of the verdict, in one line.
	Reason string
	// Notes for the reviewer, in addition to Reason.
	Notes string
	Took  time.Duration
	// Files of evidence.
	Files []File
}

// File of a submission.
type File struct {
	// Name is relative to the submission's directory, with slashes.
	Name    string
	Content []byte
}

// ShownBy returns the result of a verdict and its reason.
func ShownBy(v check.Verdict, reason string) Shown {
	return Shown{Verdict: v, Reason: reason, Partial: v == check.Unobserved && strings.HasPrefix(reason, PartlyShown)}
}

// Status is the program's grade of how a product meets a requirement.
type Status string

// The statuses.
const (
	Implemented          Status = "Implemented"
	PartiallyImplemented Status = "Partially Implemented"
	NotImplemented       Status = "Not Implemented"
	NotApplicable        Status = "N/A"
)

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{Implemented, NotImplemented, PartiallyImplemented, NotApplicable}
}

// Status returns the status for a submission; empty, with the reason, if the observations
// are insufficient for one.
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
			return "", "is not applicable without a reason"
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
