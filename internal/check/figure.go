package check

import (
	"fmt"
	"math"
)

// Meets reports whether the value meets the limit; a figure without a threshold does. An
// unknown relation is an error.
func (f Figure) Meets() (bool, error) {
	switch f.Relation {
	case "", Expected:
		return true, nil
	case ">=":
		return f.Value >= f.Limit, nil
	case "<=":
		return f.Value <= f.Limit, nil
	case "==":
		return f.Value == f.Limit, nil
	default:
		return false, fmt.Errorf("figure %q has the unknown relation %q", f.Name, f.Relation)
	}
}

// Percentile of sorted values, by linear interpolation; NaN without values.
func Percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p / 100 * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
