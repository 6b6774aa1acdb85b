package upstream

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is how far a program is.
type State string

// The states of a program.
const (
	Queued   State = "queued"
	Building State = "building"
	Cached   State = "cached"
	Built    State = "built"
	Failed   State = "failed"
)

// Event reports how far the build of a program is.
type Event struct {
	Program string `json:"program"`
	State   State  `json:"state"`
	// Done and Total count packages compiled, of this program and of those that are
	// compiled together with it. Total is 0 until it is known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Elapsed is the time since the compilation began. Remaining is an estimate from
	// the packages that are left and the speed so far; 0: not known yet.
	Elapsed   metav1.Duration `json:"elapsed"`
	Remaining metav1.Duration `json:"remaining,omitzero"`
	// Detail says what goes on: "downloading k8s.io/api v0.36.3", "linking".
	Detail string `json:"detail,omitempty"`
}
