package collective

import (
	"cmp"
	"slices"
)

// Size has the bus bandwidths at one message size, in GB/s: one for each repetition.
type Size struct {
	Bytes int64
	BusBW []float64
}

// BySize are the sizes of at least so many bytes that every repetition reached, the smallest first.
func (f Figures) BySize(least int64) []Size {
	bySize := map[int64][]float64{}
	for _, run := range f.Runs {
		for _, row := range run.Rows {
			if bw, ok := row.BusBW(); ok && row.Bytes >= least {
				bySize[row.Bytes] = append(bySize[row.Bytes], bw)
			}
		}
	}
	var out []Size
	for bytes, values := range bySize {
		if len(values) >= len(f.Runs) {
			out = append(out, Size{Bytes: bytes, BusBW: values})
		}
	}
	slices.SortFunc(out, func(a, b Size) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return out
}
