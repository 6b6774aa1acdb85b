package record

import (
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// Runtime is what a check on real hardware came to, DIR/COMMIT/runtime/*.json. It says
// nothing of scheduling, and a scheduling test nothing of it.
type Runtime struct {
	// Name of the check, such as nccl-all-reduce-bw.
	Name    string        `json:"name"`
	Verdict check.Verdict `json:"verdict"`
	Reason  string        `json:"reason,omitempty"`
	// Commit that was run; empty: that of the directory it is in.
	Commit string `json:"commit,omitempty"`
	// Hardware is what it ran on, such as "2 x p5.48xlarge".
	Hardware string `json:"hardware"`
	// Simulated says that the hardware was not real.
	Simulated bool `json:"simulated,omitempty"`
	// Recipe that was deployed, When it was checked, and where the evidence is.
	Recipe   string    `json:"recipe,omitempty"`
	When     time.Time `json:"when,omitzero"`
	Evidence string    `json:"evidence,omitempty"`
}

// Check finds what no such record can have.
func (r *Runtime) Check(commit string) error {
	if r.Name == "" {
		return fmt.Errorf("a runtime record of %.12s does not say which check", commit)
	}
	if _, err := check.ParseVerdict(string(r.Verdict)); err != nil {
		return fmt.Errorf("the runtime record of %s: %w", r.Name, err)
	}
	if r.Commit != "" && r.Commit != commit {
		return fmt.Errorf("the runtime record of %s is of commit %.12s, and lies with %.12s", r.Name, r.Commit, commit)
	}
	return nil
}

// Real says that the check was passed on hardware that is named and not simulated.
func (r *Runtime) Real() bool { return r.Verdict == check.Passed && r.Hardware != "" && !r.Simulated }
