package fuzzing

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Effort is how long each target runs: a number of executions or a time.
type Effort struct {
	Executions int
	Time       time.Duration
}

// ParseEffort parses the value of -fuzztime: "10000000x" or a duration.
func ParseEffort(s string) (Effort, error) {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		if n, err := strconv.Atoi(n); err == nil && n > 0 {
			return Effort{Executions: n}, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return Effort{Time: d}, nil
	}
	return Effort{}, fmt.Errorf("invalid -fuzztime %q: must be a positive duration or a number of executions: 20s, 10000000x", s)
}

func (e Effort) String() string {
	if e.Executions > 0 {
		return strconv.Itoa(e.Executions) + "x"
	}
	return e.Time.String()
}

// check returns an error if a target that passed ran less than the effort.
func (e Effort) check(r Result) error {
	if r.Executions < max(e.Executions, 1) {
		return fmt.Errorf("%s: %d executions of %s: not a pass", r.Target, r.Executions, e)
	}
	return nil
}
