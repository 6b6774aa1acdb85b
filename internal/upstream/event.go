package upstream

import "time"

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

// Event tells how far the building of a program is.
type Event struct {
	Program string `json:"program"`
	State   State  `json:"state"`
	// Done and Total count packages compiled, of those that were not in Go's
	// build cache. Total is 0 until it is known.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Elapsed is the time since this program's turn began.
	Elapsed time.Duration `json:"elapsed"`
	// Detail says what goes on: "downloading k8s.io/api v0.36.3", "linking".
	Detail string `json:"detail,omitempty"`
}
