package training

import (
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// median of unsorted values; there must be at least one.
func median(values []float64) float64 {
	return check.Percentile(slices.Sorted(slices.Values(values)), 50)
}

// spread is the mean and the standard deviation.
func spread(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)))
}
