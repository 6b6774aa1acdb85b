// Package matrix says what a nightly batch runs, where and until when: versions by intents,
// one leg a reservation. It only computes; package batch does.
package matrix

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/config"
)

// Outcome is how a cell ended.
type Outcome string

// The outcomes. Only Passed is a pass.
const (
	// Pending: it has not begun; the night is not over.
	Pending Outcome = "pending"
	// Running: it has begun, and nothing is known of its end.
	Running Outcome = "running"
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	// TimedOut: it took longer than a cell may.
	TimedOut Outcome = "timed-out"
	// Blocked: the reservation was not to be had, or something stood on it.
	Blocked Outcome = "blocked"
	// NotStarted: there was no time left for it before the cutoff.
	NotStarted Outcome = "not-started"
	// Superseded: a newer batch of the lane began before it did.
	Superseded Outcome = "superseded"
	// Interrupted: who ran it was gone before it ended, and it could not be run again.
	Interrupted Outcome = "interrupted"
)

// Ended tells that nothing more will become of a cell.
func (o Outcome) Ended() bool { return o != Pending && o != Running && o != "" }

// Cell is one version with one intent on one reservation, in one night.
type Cell struct {
	// Version is main, or a stable release, vX.Y.Z.
	Version string          `json:"version"`
	Intent  config.Intent `json:"intent"`
	Outcome Outcome         `json:"outcome"`
	// Attempts counts how often it was begun.
	Attempts int `json:"attempts,omitempty"`
	// Token and Deployment are of the last attempt.
	Token      int64        `json:"token,omitempty"`
	Deployment string       `json:"deployment,omitempty"`
	Started    *metav1.Time `json:"started,omitempty"`
	Ended      *metav1.Time `json:"ended,omitempty"`
	// Checks is how many there were; a pass has some. Evidence says where they are kept.
	Checks   int    `json:"checks,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	Reason      string `json:"reason,omitempty"`
}
