package schedule

import (
	"time"

	"github.com/firstlight/firstlight/internal/plan"
)

// Outcome is what a test came to.
type Outcome struct {
	plan.Outcome
	Run      string
	Evidence string
	// Began is when the first recipe did.
	Began time.Time
	// Starting is what the starts of control planes took.
	Starting time.Duration
}
