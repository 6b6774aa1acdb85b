package inference

import (
	"math"
	"slices"
)

// percentilesOf values; zero without values.
func percentilesOf(values []float64) Percentiles {
	if len(values) == 0 {
		return Percentiles{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Percentiles{P50: percentile(sorted, 50), P90: percentile(sorted, 90), P99: percentile(sorted, 99)}
}

// percentile of sorted values, interpolated.
func percentile(sorted []float64, p float64) float64 {
	at := p / 100 * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
