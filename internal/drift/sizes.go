package drift

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// curve has the bandwidths of a collective or rail by message size, the smallest first.
type curve struct {
	name string
	// was and is are figures of the same sizes, changes are between them.
	was, is []Figure
	changes []change
	// missing are sizes of the baseline that were not observed again.
	missing []string
}

// curves are the bandwidths of the baseline by message size.
func curves(was, is []Figure) []curve {
	var out []curve
	for _, f := range was {
		if f.Bytes == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(c curve) bool { return c.name == f.series() })
		if i < 0 {
			i = len(out)
			out = append(out, curve{name: f.series()})
		}
		now := slices.IndexFunc(is, func(g Figure) bool { return g.Name == f.Name })
		if now < 0 {
			out[i].missing = append(out[i].missing, fmt.Sprint(f.Bytes))
			continue
		}
		out[i].was, out[i].is = append(out[i].was, f), append(out[i].is, is[now])
	}
	return out
}

// neighbours are the sizes, with that which they are neighbours of, whose noise is estimated together.
const neighbours = 5

// compareCurves compares each size of each curve, with the deviations of one figure corrected for the number of
// sizes. The noise is that of the curve, or that of the size and its neighbours if it is more: three repetitions of one
// size are too few to estimate it.
func compareCurves(all []curve, b band, deviations float64) {
	n := 0
	for _, c := range all {
		n += len(c.is)
	}
	deviations = corrected(deviations, n)
	for i, c := range all {
		own := b
		whole := max(b.Noise, noiseOf(slices.Concat(c.was, c.is)))
		for k := range c.is {
			from := max(0, min(k-2, len(c.is)-neighbours))
			to := min(len(c.is), from+neighbours)
			own.Noise = max(whole, noiseOf(slices.Concat(c.was[from:to], c.is[from:to])))
			all[i].changes = append(all[i].changes, compareWithNoise(c.was[k], c.is[k], own, deviations))
		}
	}
}

// noiseOf is the standard deviation of a value by the median of the absolute deviations from the medians of
// all figures, as a fraction. The smallest deviation of each figure, that of the median itself, does not count.
func noiseOf(figures []Figure) float64 {
	const madToSD = 1.4826 // of normal values
	var away []float64
	for _, f := range figures {
		middle, own := medianOf(f.Values), []float64(nil)
		if middle <= 0 {
			continue // nothing was transferred
		}
		for _, v := range f.Values {
			own = append(own, math.Abs(v/middle-1))
		}
		slices.Sort(own)
		away = append(away, own[1:]...)
	}
	if len(away) == 0 {
		return 0
	}
	return madToSD * medianOf(away)
}

// in are the indices of the sizes in one of the bands.
func (c curve) in(bands ...string) []int {
	var out []int
	for i, k := range c.changes {
		if slices.Contains(bands, k.band) {
			out = append(out, i)
		}
	}
	return out
}

// worst is the size of the largest loss for its tolerance.
func (c curve) worst() int {
	worst := 0
	for i, k := range c.changes {
		if w := c.changes[worst]; k.worse/k.tolerance > w.worse/w.tolerance {
			worst = i
		}
	}
	return worst
}

// sizes lists sizes in bytes, neighbours as a range.
func (c curve) sizes(indices []int) string {
	var out []string
	for i := 0; i < len(indices); i++ {
		first := indices[i]
		for i+1 < len(indices) && indices[i+1] == indices[i]+1 {
			i++
		}
		text := fmt.Sprint(c.is[first].Bytes)
		if indices[i] > first {
			text += fmt.Sprintf(" to %d", c.is[indices[i]].Bytes)
		}
		out = append(out, text)
	}
	return check.JoinNames(out, 4)
}

const remedySizes = "compare what selects NCCL's algorithm and protocol by message size with the accepted run, in NCCL's log in the evidence: NCCL_ variables of the " +
	"image and of the hosts (/etc/nccl.conf), tuner plugins, aggregation in switches (SHARP); then run firstlight drift again"

// sizes compares the bandwidths at single sizes. A finding for the largest sizes of a curve is the only one of the curve.
func (r *comparison) sizes(all []curve) {
	compareCurves(all, r.bands.Sizes.band, r.bands.Deviations)
	for _, c := range all {
		if len(c.changes) > 0 {
			w := c.worst()
			k := c.changes[w]
			r.Figure(check.Figure{Name: c.name + ", loss at the worst single size", Value: max(0, k.worse), Unit: "fraction", Relation: "<=", Limit: k.tolerance,
				Source: fmt.Sprintf("at %d bytes, the worst of %d sizes: %.4g %s, the median of run %s is %.4g %s",
					c.is[w].Bytes, len(c.is), k.is, c.is[w].Unit, r.baseline.Run, k.was, c.was[w].Unit)})
		}
		if !slices.ContainsFunc(r.reported, func(name string) bool { return isLargest(name, c.name) }) {
			r.curve(c)
		}
	}
}

// curve adds the findings of one curve.
func (r *comparison) curve(c curve) {
	if len(c.missing) > 0 {
		r.Unobserved("", c.name, remedyMissing, "%s at %s bytes is in the baseline of run %s and was not observed again", c.name, check.JoinNames(c.missing, 4), r.baseline.Run)
	}
	limits := r.bands.Sizes
	if unclear := c.in(bandUnclear); len(unclear) > 0 {
		k := c.changes[unclear[0]]
		r.Unobserved("", c.name, remedyNoise, "%s at %s bytes is worse by %.0f %% or more than in run %s, where replace begins, but the values vary so much that up to %.1f %% may be noise",
			c.name, c.sizes(unclear), 100*limits.Replace, r.baseline.Run, 100*k.noise)
	}
	worse := c.in(bandWarn, bandReplace)
	if len(worse) == 0 {
		return
	}
	name := bandWarn
	if len(c.in(bandReplace)) > 0 {
		name = bandReplace
	}
	most := slices.MaxFunc(worse, func(a, b int) int { return cmp.Compare(c.changes[a].worse, c.changes[b].worse) })
	k := c.changes[most]
	r.fail(c.name, remedySizes, "%s: %s is worse at %d of %d message sizes (%s bytes), and as expected at the largest sizes together: "+
		"at %d bytes it is %.4g %s, %.1f %% worse than the %.4g %s of run %s; tolerated are %.1f %%",
		name, c.name, len(worse), len(c.is), c.sizes(worse),
		c.is[most].Bytes, k.is, c.is[most].Unit, 100*k.worse, k.was, c.was[most].Unit, r.baseline.Run, 100*k.tolerance)
}
