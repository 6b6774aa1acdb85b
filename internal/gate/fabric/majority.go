package fabric

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// sample is an adapter's value that must be the same for all adapters.
type sample struct {
	adapter, value string
	o              check.Observation
}

// usualValue is the value of more than half of the samples and their number; 0 without such a
// majority.
func usualValue(samples []sample) (string, int) {
	times := map[string]int{}
	for _, s := range samples {
		times[s.value]++
	}
	for value, n := range times {
		if 2*n > len(samples) {
			return value, n
		}
	}
	return "", 0
}

// uniform fails each adapter whose value differs from the usual one, or the fabric without a
// usual one. The message is "gpu-02/mlx5_3 has WHAT 1, 7 of 8 AMONG have 2".
func uniform(b *check.Builder, samples []sample, what, among, remedy string) {
	usual, n := usualValue(samples)
	if n == 0 && len(samples) > 0 {
		b.Fail(samples[0].o.ID, "fabric", remedy, "%s differ in %s, and no value has a majority: %s", among, what, spread(samples))
		return
	}
	for _, s := range samples {
		if s.value != usual {
			b.Fail(s.o.ID, s.adapter, remedy, "%s has %s %s, %d of %d %s have %s", s.adapter, what, s.value, n, len(samples), among, usual)
		}
	}
}

// spread lists each value with its number of samples and its first adapter.
func spread(samples []sample) string {
	times, first := map[string]int{}, map[string]string{}
	for _, s := range samples {
		if times[s.value]++; times[s.value] == 1 {
			first[s.value] = s.adapter
		}
	}
	var out []string
	for _, value := range slices.Sorted(maps.Keys(times)) {
		out = append(out, fmt.Sprintf("%s on %d (%s, ...)", value, times[value], first[value]))
	}
	return strings.Join(head(out), "; ")
}
