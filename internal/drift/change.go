package drift

import (
	"math"

	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
)

// The bands of a figure.
const (
	bandExpected = "expected"
	bandWarn     = "warn"
	bandReplace  = "replace"
	// bandUnclear: a loss of replace or more that noise alone may explain.
	bandUnclear = "unclear"
)

// change is a figure with its baseline.
type change struct {
	// was and is are medians. worse is the loss as a fraction of was, negative for a gain.
	was, is, worse float64
	// noise is the loss that noise alone may explain.
	noise float64
	// tolerance is the loss up to which the figure is as expected: that of the band, or noise if it
	// is more, but never more than replace.
	tolerance float64
	band      string
}

// medianError is the standard deviation of a median, relative to that of a mean, of normal values.
const medianError = 1.2533

// compareFigure compares two sets of values of one figure, with the larger of their noises.
func compareFigure(was, is Figure, b band, deviations float64) change {
	_, before := sequential.Spread(was.Values)
	_, after := sequential.Spread(is.Values)
	b.Noise = max(b.Noise, before, after)
	return compareWithNoise(was, is, b, deviations)
}

// compareWithNoise compares two sets of values of one figure whose noise is that of the band.
func compareWithNoise(was, is Figure, b band, deviations float64) change {
	var c change
	c.was, _ = sequential.Spread(was.Values)
	c.is, _ = sequential.Spread(is.Values)
	c.worse = c.is/c.was - 1
	if was.HigherIsBetter {
		c.worse = -c.worse
	}
	deviation := b.Noise * medianError * math.Sqrt(1/float64(len(was.Values))+1/float64(len(is.Values)))
	c.noise = deviations * deviation
	c.tolerance = min(max(b.Warn, c.noise), b.Replace)
	switch {
	case c.worse >= b.Replace && c.worse <= c.noise:
		c.band = bandUnclear
	case c.worse >= b.Replace:
		c.band = bandReplace
	case c.worse <= c.tolerance:
		c.band = bandExpected
	default:
		c.band = bandWarn
	}
	return c
}
