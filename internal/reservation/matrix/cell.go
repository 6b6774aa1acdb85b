// Package matrix computes what a nightly batch runs, where and until when: versions by intents, a
// leg per reservation. It is pure.
package matrix

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Outcome of a cell.
type Outcome string

// Outcomes. Only Passed is a pass.
const (
	// Pending: not started; the night is not over.
	Pending Outcome = "pending"
	// Running: started, end unknown.
	Running Outcome = "running"
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	// TimedOut: it exceeded the limit of a cell.
	TimedOut Outcome = "timed-out"
	// Blocked: the reservation was not available, or had a leftover deployment.
	Blocked Outcome = "blocked"
	// NotStarted: no time was left before the cutoff.
	NotStarted Outcome = "not-started"
	// Superseded: a newer batch of the lane started first.
	Superseded Outcome = "superseded"
	// Interrupted: its runner stopped before it ended, and it could not be run again.
	Interrupted Outcome = "interrupted"
)

// Ended reports whether the outcome is final.
func (o Outcome) Ended() bool { return o != Pending && o != Running && o != "" }

// +k8s:deepcopy-gen=true

// Cell is one version with one intent on one reservation in one night.
type Cell struct {
	// Version is main or a stable release, vX.Y.Z.
	Version string        `json:"version"`
	Intent  config.Intent `json:"intent"`
	Outcome Outcome       `json:"outcome"`
	// Attempts counts how often it was started.
	Attempts int `json:"attempts,omitempty"`
	// Token and Deployment of the last attempt.
	Token      int64        `json:"token,omitempty"`
	Deployment string       `json:"deployment,omitempty"`
	Started    *metav1.Time `json:"started,omitempty"`
	Ended      *metav1.Time `json:"ended,omitempty"`
	// Checks is the number of checks; a pass has at least one. Evidence is their location.
	Checks   int    `json:"checks,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	Reason   string `json:"reason,omitempty"`
}
