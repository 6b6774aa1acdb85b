package inference

import (
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// percentilesOf values; zero without values.
func percentilesOf(values []float64) Percentiles {
	if len(values) == 0 {
		return Percentiles{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Percentiles{P50: check.Percentile(sorted, 50), P90: check.Percentile(sorted, 90), P99: check.Percentile(sorted, 99)}
}
