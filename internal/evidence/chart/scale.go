package chart

import (
	"math"
	"unicode/utf8"
)

// axis maps values onto pixels.
type axis struct {
	scale    Scale
	low, hi  float64 // values, transformed
	from, to float64 // pixels
	ticks    []float64
}

const (
	wantedTicks = 6
	letterWidth = 6.6  // pixels, about
	labelGap    = 10.0 // pixels
)

// labelAxis has a place for each label, and ticks for as many as can be read.
func labelAxis(labels []string, from, to float64) axis {
	a := axis{low: -0.5, hi: float64(len(labels)) - 0.5, from: from, to: to}
	longest := 0
	for _, l := range labels {
		longest = max(longest, utf8.RuneCountInString(l))
	}
	room := (to - from) / (letterWidth*float64(longest) + labelGap)
	every := max(1, int(math.Ceil(float64(len(labels))/room)))
	for i := 0; i < len(labels); i += every {
		a.ticks = append(a.ticks, float64(i))
	}
	return a
}

// newAxis covers the values; from and to are pixels.
func newAxis(s Scale, values []float64, from, to float64) axis {
	a := axis{scale: s, from: from, to: to, low: math.Inf(1), hi: math.Inf(-1)}
	for _, v := range values {
		if s == Bytes && v <= 0 {
			continue
		}
		a.low, a.hi = min(a.low, a.transform(v)), max(a.hi, a.transform(v))
	}
	switch {
	case s == Percent:
		a.low, a.hi = 0, 100
	case math.IsInf(a.low, 1):
		a.low, a.hi = 0, 1
	case s == LinearZero:
		a.low = min(a.low, 0)
	}
	if a.hi <= a.low {
		pad := max(math.Abs(a.low)*0.05, 0.5)
		a.low, a.hi = a.low-pad, a.hi+pad
	}
	if s == Bytes {
		a.byteTicks()
	} else {
		a.linearTicks()
	}
	return a
}

func (a *axis) transform(v float64) float64 {
	if a.scale == Bytes {
		return math.Log2(v)
	}
	return v
}

// linearTicks puts ticks at round values and widens the axis to them.
func (a *axis) linearTicks() {
	step := roundStep((a.hi - a.low) / wantedTicks)
	if a.scale == Percent {
		step = 25
	}
	first, last := math.Floor(a.low/step+1e-9), math.Ceil(a.hi/step-1e-9)
	a.low, a.hi = first*step, last*step
	for i := first; i <= last; i++ {
		a.ticks = append(a.ticks, i*step)
	}
}

// byteTicks puts ticks at powers of two.
func (a *axis) byteTicks() {
	step := math.Max(1, math.Ceil((a.hi-a.low)/(wantedTicks+2)))
	for e := math.Ceil(a.low); e <= a.hi+1e-9; e += step {
		a.ticks = append(a.ticks, math.Exp2(e))
	}
}

// roundStep is the next of 1, 2, 5 times a power of ten.
func roundStep(v float64) float64 {
	if v <= 0 || !isFinite(v) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// at is the pixel of a value, kept inside the axis.
func (a *axis) at(v float64) float64 {
	if a.scale == Bytes && v <= 0 {
		return a.from
	}
	part := (a.transform(v) - a.low) / (a.hi - a.low)
	return a.from + min(max(part, 0), 1)*(a.to-a.from)
}
