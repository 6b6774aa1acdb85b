package drift

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
)

// bandwidths are the bus bandwidths of all nodes at the sizes that the gate judges, and at each size, by
// collective and rail. The name of the all-reduce is that of baselines of earlier versions.
func bandwidths(obs []check.Observation, by basis) []Figure {
	var out []Figure
	for _, o := range check.OfKind(obs, collective.KindRun) {
		f, err := check.Decode[collective.Figures](o)
		if err != nil || f.Scope != collective.ScopeAll && f.Scope != collective.ScopeRail {
			continue
		}
		series := seriesOf(f)
		busbw := Figure{Gate: collective.Name, Unit: "GB/s", HigherIsBetter: true}
		busbw.Name, busbw.Values = largest(series, f.MaxBytes), f.Repeated(int(by.profile.Collective.LargestSizes.Value))
		out = append(out, busbw)
		for _, size := range f.BySize(by.fromBytes) {
			busbw.Name, busbw.Bytes, busbw.Values = series+at(size.Bytes), size.Bytes, size.BusBW
			out = append(out, busbw)
		}
	}
	return present(out)
}

// seriesOf is the name of the bandwidths of a run at any size.
func seriesOf(f collective.Figures) string {
	of, rail := "all_reduce", ""
	if f.Collective != "" {
		of = f.Collective
	}
	if f.Rail != "" {
		rail = " over rail " + f.Rail
	}
	return fmt.Sprintf("%s busbw of %d nodes%s", of, len(f.Nodes), rail)
}

// largest is the name of the figure of the largest sizes together.
func largest(series string, maxBytes int64) string {
	return fmt.Sprintf("%s up to %d bytes", series, maxBytes)
}

// isLargest reports whether a figure is that of the largest sizes of a series.
func isLargest(name, series string) bool { return strings.HasPrefix(name, series+" up to ") }

func at(size int64) string { return fmt.Sprintf(" at %d bytes", size) }

// series is the name of the bandwidths that a figure at one size belongs to.
func (f Figure) series() string { return strings.TrimSuffix(f.Name, at(f.Bytes)) }
