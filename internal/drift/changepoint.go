package drift

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

// timed is a step of the training with its time.
type timed struct {
	step int
	ms   float64
}

// inOrder are the steps in their order.
func inOrder(times map[int]float64) []timed {
	out := make([]timed, 0, len(times))
	for step, ms := range times {
		out = append(out, timed{step, ms})
	}
	slices.SortFunc(out, func(a, b timed) int { return a.step - b.step })
	return out
}

// rise is the difference of the step times of two parts of a run.
type rise struct {
	// first, until, from and last are the steps of the earlier and of the later part.
	first, until, from, last int
	// before and after are the medians of the parts, share is the rise as a fraction of before.
	before, after, share float64
	// deviations is the standardised rank sum of the later part.
	deviations float64
}

// lastingRise divides the steps where the later ones have the largest standardised rank sum (Wilcoxon, Mann and
// Whitney) of all divisions in two parts of at least so many steps. Ranks of single slow steps weigh no more than those
// of others, so that an outlier or a checkpoint each few steps is not a change. Ties have their mean rank. ok is false for
// fewer steps.
func lastingRise(steps []timed, least int) (most rise, ok bool) {
	values := make([]float64, len(steps))
	for i, s := range steps {
		values[i] = s.ms
	}
	n, ranks := float64(len(steps)), ranksOf(values)
	later, at := n*(n+1)/2, 0
	for i, rank := range ranks {
		earlier := float64(i + 1)
		later -= rank
		if i+1 < least || len(steps)-(i+1) < least {
			continue
		}
		deviations := (later - (n-earlier)*(n+1)/2) / math.Sqrt(earlier*(n-earlier)*(n+1)/12)
		if at == 0 || deviations > most.deviations {
			at, most.deviations = i+1, deviations
		}
	}
	if at == 0 {
		return rise{}, false
	}
	most.first, most.until, most.from, most.last = steps[0].step, steps[at-1].step, steps[at].step, steps[len(steps)-1].step
	most.before, most.after = medianOf(values[:at]), medianOf(values[at:])
	most.share = most.after/most.before - 1
	return most, true
}

// ranksOf are the ranks of values, from 1; equal values have their mean.
func ranksOf(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	out := make([]float64, len(values))
	for i, v := range values {
		less, _ := slices.BinarySearch(sorted, v)
		upTo, _ := slices.BinarySearch(sorted, math.Nextafter(v, math.Inf(1)))
		out[i] = float64(less+1+upTo) / 2
	}
	return out
}

func medianOf(values []float64) float64 {
	return check.Percentile(slices.Sorted(slices.Values(values)), 50)
}

// band of a rise: as expected unless it is more than noise and more than warn.
func (b slowdownBand) of(r rise) string {
	switch {
	case r.before <= 0 || r.deviations < b.Deviations || r.share <= b.Warn:
		return bandExpected
	case r.share >= b.Replace:
		return bandReplace
	default:
		return bandWarn
	}
}

const remedySlowdown = "find what began at that step: throttling by heat or power (nvidia-smi -q -d TEMPERATURE,POWER,PERFORMANCE under load), storage, " +
	"other traffic on the fabric, jobs on the host CPUs; compare the ranks' steps in the evidence; then run firstlight drift again"

// slowdown judges whether the step time rose in the run and stayed higher: the median of all steps hides it.
func (r *comparison) slowdown() {
	limits := r.bands.Slowdown
	times, _ := stepTimes(r.obs, r.profile)
	most, ok := lastingRise(inOrder(times), limits.LeastSteps)
	if !ok {
		r.Note("", "steps of the training", "raise workloads.training.steps", "%d steps after the warm-up are too few to find a slowdown within the run: it needs %d", len(times), 2*limits.LeastSteps)
		return
	}
	found := max(0, most.share)
	if most.deviations < limits.Deviations {
		found = 0 // noise
	}
	r.Figure(check.Figure{Name: "lasting rise of the step time within the run", Value: found, Unit: "fraction", Relation: "<=", Limit: limits.Warn,
		Source: fmt.Sprintf("of %d steps; the largest standardised rank sum is %.1f, and above noise from %.1f on", len(times), most.deviations, limits.Deviations)})
	if name := limits.of(most); name != bandExpected {
		r.fail("cluster", remedySlowdown, "%s: the step time is %.1f %% longer from step %d to the last step %d: %.4g ms, in steps %d to %d %.4g ms; tolerated are %.1f %%",
			name, 100*most.share, most.from, most.last, most.after, most.first, most.until, most.before, 100*limits.Warn)
	}
}
