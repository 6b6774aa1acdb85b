// Package uniform compares a value of the adapters of a fabric that must be the same everywhere.
package uniform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// Sample is an adapter's value that must be the same for all adapters.
type Sample struct {
	Adapter, Value string
	Observation    check.Observation
}

// Usual is the value of more than half of the samples and their number; 0 without such a
// majority.
func Usual(samples []Sample) (string, int) {
	times := map[string]int{}
	for _, s := range samples {
		times[s.Value]++
	}
	for value, n := range times {
		if 2*n > len(samples) {
			return value, n
		}
	}
	return "", 0
}

// Require fails each adapter whose value differs from the usual one, or the fabric without a
// usual one. The message is "gpu-02/mlx5_3 has WHAT 1, 7 of 8 AMONG have 2".
func Require(b *check.Builder, samples []Sample, what, among, remedy string) {
	usual, n := Usual(samples)
	if n == 0 && len(samples) > 0 {
		b.Fail(samples[0].Observation.ID, "fabric", remedy, "%s differ in %s, and no value has a majority: %s", among, what, Spread(samples))
		return
	}
	for _, s := range samples {
		if s.Value != usual {
			b.Fail(s.Observation.ID, s.Adapter, remedy, "%s has %s %s, %d of %d %s have %s", s.Adapter, what, s.Value, n, len(samples), among, usual)
		}
	}
}

// Spread lists each value with its number of samples and its first adapter.
func Spread(samples []Sample) string {
	times, first := map[string]int{}, map[string]string{}
	for _, s := range samples {
		if times[s.Value]++; times[s.Value] == 1 {
			first[s.Value] = s.Adapter
		}
	}
	var out []string
	for _, value := range slices.Sorted(maps.Keys(times)) {
		out = append(out, fmt.Sprintf("%s on %d (%s, ...)", value, times[value], first[value]))
	}
	return strings.Join(Head(out), "; ")
}

// Head limits the lines in a message; all of them are in the evidence.
func Head(lines []string) []string {
	const most = 5
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
}
