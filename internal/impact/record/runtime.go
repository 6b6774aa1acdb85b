package record

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Runtime is the result of a check on real hardware, DIR/COMMIT/runtime/*.json. It is
// independent of the scheduling test.
type Runtime struct {
	// Name of the check, for example nccl-all-reduce-bw.
	Name    string        `json:"name"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason,omitempty"`
	// Commit that was checked; empty: the commit of the directory.
	Commit string `json:"commit,omitempty"`
	// Hardware that the check ran on, for example "2 x p5.48xlarge".
	Hardware string `json:"hardware"`
	// Simulated is set if the hardware was not real.
	Simulated bool `json:"simulated,omitempty"`
	// Recipe that was deployed, time of the check, and location of the evidence.
	Recipe   string    `json:"recipe,omitempty"`
	When     time.Time `json:"when,omitzero"`
	Evidence string    `json:"evidence,omitempty"`
}

// Check validates the record; commit is that of its directory.
func (r *Runtime) Check(commit string) error {
	if r.Name == "" {
		return fmt.Errorf("invalid runtime record of %.12s: name is missing", commit)
	}
	if _, err := check.ParseVerdict(string(r.Verdict)); err != nil {
		return fmt.Errorf("invalid runtime record of %s: %w", r.Name, err)
	}
	if r.When.IsZero() {
		return fmt.Errorf("invalid runtime record of %s: time (when) is missing", r.Name)
	}
	if r.Commit != "" && r.Commit != commit {
		return fmt.Errorf("invalid runtime record of %s: commit is %.12s, but the file is in the directory of %.12s", r.Name, r.Commit, commit)
	}
	return nil
}

// Real reports whether the check passed on named hardware that was not simulated.
func (r *Runtime) Real() bool { return r.Verdict == check.Passed && r.Hardware != "" && !r.Simulated }
