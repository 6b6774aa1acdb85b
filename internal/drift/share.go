package drift

import (
	"fmt"
	"math"
	"sort"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference"
)

// compareShare compares two shares of requests. The loss, the band and the tolerance are parts of all requests. A
// loss up to that of Fisher's exact test is as expected even if it is replace or more: with few requests no less can be shown, and
// the gate's objectives bound it.
func compareShare(was, is Figure, b band, deviations float64) change {
	c := change{was: was.Values[0], is: is.Values[0]}
	c.worse = c.was - c.is
	missed := was.Requests - int(math.Round(c.was*float64(was.Requests)))
	fewest := sort.Search(is.Requests+1, func(n int) bool { return fisher(missed, was.Requests, n, is.Requests) < chance(deviations) })
	c.noise = c.was - float64(is.Requests-(fewest-1))/float64(is.Requests)
	c.tolerance = max(b.Warn, c.noise)
	switch {
	case c.worse <= c.tolerance:
		c.band = bandExpected
	case c.worse >= b.Replace:
		c.band = bandReplace
	default:
		c.band = bandWarn
	}
	return c
}

// fisher is the probability that, of two runs with the same share of misses and these misses in total, the later has at
// least so many.
func fisher(missedThen, then, missedNow, now int) float64 {
	missed, p := missedThen+missedNow, 0.0
	for n := missedNow; n <= min(missed, now); n++ {
		p += math.Exp(choose(now, n) + choose(then, missed-n) - choose(now+then, missed))
	}
	return p
}

// choose is the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	return factorial(n) - factorial(k) - factorial(n-k)
}

func factorial(n int) float64 {
	log, _ := math.Lgamma(float64(n) + 1)
	return log
}

// chance is the probability that noise exceeds so many standard deviations in one direction.
func chance(deviations float64) float64 { return math.Erfc(deviations/math.Sqrt2) / 2 }

// corrected are the deviations that noise exceeds in any of n comparisons no more often than deviations in one: Bonferroni's
// correction, which holds for figures that depend on each other too.
func corrected(deviations float64, n int) float64 {
	return math.Sqrt2 * math.Erfcinv(2*chance(deviations)/float64(max(1, n)))
}

// share compares a share of requests, and reports whether it has a finding.
func (r *comparison) share(was, is Figure) bool {
	limits, run := r.bands.Goodput, r.baseline.Run
	diff := compareShare(was, is, limits, r.bands.Deviations)
	r.Figure(check.Figure{Name: was.Name, Value: diff.is, Unit: was.Unit, Relation: ">=", Limit: diff.was - diff.tolerance,
		Source: fmt.Sprintf("the share %.4g of %d requests of run %s and the tolerance %.2f points of %d requests", diff.was, was.Requests, run, 100*diff.tolerance, is.Requests)})
	switch {
	case diff.band == bandExpected:
		return false
	case compareShare(was, r.withoutStall(is), limits, r.bands.Deviations).band == bandExpected:
		r.Unobserved("", "firstlight's own machine", remedyStall,
			"%s is %.2f %%, %.2f points below run %s, but firstlight was not scheduled for up to %.1f ms while it measured", was.Name, 100*diff.is, 100*diff.worse, run, stalled(r.obs))
	default:
		r.fail("cluster", remedyWorse, "%s: %s is %.2f %%, %.2f points below the %.2f %% of run %s; tolerated are %.2f points",
			diff.band, was.Name, 100*diff.is, 100*diff.worse, 100*diff.was, run, 100*diff.tolerance)
	}
	return true
}

// withoutStall is the share if each latency was longer by the stall of firstlight's own machine.
func (r *comparison) withoutStall(is Figure) Figure {
	late := stalled(r.obs)
	o := inference.Objectives{TTFT: r.objectives.TTFT + late, TPOT: r.objectives.TPOT + late}
	is.Values = []float64{float64(o.Good(lastLoad(r.obs))) / float64(is.Requests)}
	return is
}
