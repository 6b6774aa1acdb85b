package load

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// PercentilesOf values; zero without values.
func PercentilesOf(values []float64) Percentiles {
	if len(values) == 0 {
		return Percentiles{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Percentiles{P50: check.Percentile(sorted, 50), P90: check.Percentile(sorted, 90), P99: check.Percentile(sorted, 99)}
}

// Milliseconds of a duration.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func milliseconds(ds []time.Duration) []float64 {
	out := make([]float64, 0, len(ds))
	for _, d := range ds {
		out = append(out, Milliseconds(d))
	}
	return out
}
