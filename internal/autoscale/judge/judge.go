// Package judge decides each hop of the autoscaling chain: a pure function of
// the Setup and of the State that was stored for the hop.
package judge

import (
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/check"
)

// Result is the verdict of one hop.
type Result struct {
	check.Judgement
	// At is when what the hop waits for happened; zero when it did not.
	At time.Time
	// Object is what it happened to, with its UID.
	Object seen.Ref
}

// Hop judges a hop from the state stored for it. A hop that has not happened
// yet is failed with the likely reason, or unobserved when what it needs could
// not be looked at; the observer asks again until its deadline.
func Hop(name string, s seen.Setup, st seen.State) Result {
	return Result{Judgement: check.CouldNotObserve("hop " + name + " has no judge")}
}
