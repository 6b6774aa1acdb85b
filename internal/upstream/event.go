package upstream

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State of a program's build.
type State string

// States.
const (
	Queued   State = "queued"
	Building State = "building"
	Cached   State = "cached"
	Built    State = "built"
	Failed   State = "failed"
)

// Event is the build progress of a program.
type Event struct {
	Program string `json:"program"`
	State   State  `json:"state"`
	// Done and Total count compiled packages of the program and of those in its batch. Total is 0
	// until it is known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Elapsed is the time since the start of the compilation. Remaining is an estimate; 0:
	// unknown.
	Elapsed   metav1.Duration `json:"elapsed"`
	Remaining metav1.Duration `json:"remaining,omitzero"`
	// Detail is the current activity: "downloading k8s.io/api v0.36.3", "linking".
	Detail string `json:"detail,omitempty"`
}
