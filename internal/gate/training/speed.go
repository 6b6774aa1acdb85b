package training

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	remedyMFU  = "compare clocks, power limits and throttle reasons of all GPUs under load (nvidia-smi -q -d CLOCK,PERFORMANCE), compare GPU_UTIL with tensor activity, and check the data loader and NCCL settings of the job"
	remedyStep = "look for intermittent causes: throttling, storage, other traffic on the fabric, jobs on the host CPUs; compare the ranks' step times in the evidence"
	remedyLag  = "compare clocks, temperatures, PCIe link widths and HCA counters of that node with the others'; then remove it and run the gate again"
)

// speed judges MFU, the steadiness of steps and the slowest rank, after the warm-up.
func (r *review) speed() {
	warmup := int(r.gate.profile.Training.WarmupSteps.Value)
	times := map[int][]float64{}  // by step
	perRank := map[int]float64{}  // median by rank
	tflops := make([]float64, 0)  // all
	printed := make([]float64, 0) // MFU as printed, percent
	unknown := false
	for _, k := range r.reporters() {
		var own []float64
		for _, s := range k.Steps {
			if s.Step <= warmup {
				continue
			}
			took, ok := s.took()
			if !ok {
				unknown = true
				continue
			}
			times[s.Step] = append(times[s.Step], took)
			own = append(own, took)
			v, ok := s.tflops(k.Rank)
			if !ok {
				unknown = true
				continue
			}
			tflops = append(tflops, v)
			if s.PrintedMFU != nil {
				printed = append(printed, *s.PrintedMFU)
			}
		}
		if len(own) > 0 {
			perRank[k.Rank.Rank] = median(own)
		}
	}
	steady := series(times, slices.Max[[]float64])
	if unknown || len(steady) < thirds || len(tflops) == 0 {
		r.Unobserved(r.jobID, "job "+jobName, "print throughput on every step (--log-throughput with Megatron; a torchtitan that prints tflops)", "step times and TFLOPS after %d warm-up steps are not known for every step (for %d)", warmup, len(steady))
		return
	}
	r.lag(perRank)
	r.mfu(median(tflops), printed)
	r.steadiness(steady)
}

// took is a step's time in ms, or in an arbitrary unit if only the rate is known.
func (s Step) took() (float64, bool) {
	switch {
	case s.Ms != nil && *s.Ms > 0:
		return *s.Ms, true
	case s.TokensPerSecond != nil && *s.TokensPerSecond > 0:
		return 1 / *s.TokensPerSecond, true
	default:
		return 0, false
	}
}

// tflops of a step: printed, or computed from the rate and the model's size with 6 FLOPs per
// parameter and token, which omits attention and so is a lower bound.
func (s Step) tflops(k Rank) (float64, bool) {
	const flopsPerParameter, tera = 6, 1e12
	switch {
	case s.TFLOPS != nil:
		return *s.TFLOPS, true
	case s.TokensPerSecond != nil && k.Parameters > 0:
		return flopsPerParameter * float64(k.Parameters) * *s.TokensPerSecond / tera, true
	default:
		return 0, false
	}
}

// mfu compares TFLOPS over the profile's peak with the limit.
func (r *review) mfu(tflops float64, printed []float64) {
	peak := r.gate.profile.GPU.PeakBF16
	limit, source := r.gate.minMFU()
	if peak.Value <= 0 || limit <= 0 {
		r.Unobserved(r.jobID, "profile "+r.gate.profile.Name, "set gpu.peakBF16 and training.minMFU", "the profile has no peak or no limit for MFU")
		return
	}
	mfu := tflops / peak.Value
	r.figure("MFU", mfu, "fraction", limit, ">=", source)
	r.Figure(check.Figure{Name: "TFLOPS a GPU", Value: tflops, Unit: "TFLOPS"})
	if len(printed) > 0 {
		r.printed(mfu, median(printed))
	}
	if mfu < limit {
		r.Fail(r.jobID, "MFU of job "+jobName, remedyMFU, "MFU is %.2f %% (%.1f of %.0f TFLOPS), expected at least %.2f %%%s", 100*mfu, tflops, peak.Value, 100*limit, r.remark)
	}
}

// printed adds a remark about a printed MFU with another peak than the profile's.
func (r *review) printed(mfu, percent float64) {
	const percentPerUnit, lastDigit = 100, 0.01
	r.Figure(check.Figure{Name: "MFU as printed", Value: percent / percentPerUnit, Unit: "ratio"})
	ours := percentPerUnit * mfu
	// medians of figures rounded to two decimals
	if math.Abs(percent-ours) > 2*lastDigit+percent*lastDigit/percentPerUnit {
		r.remark = fmt.Sprintf("; the trainer prints an MFU of %.1f %%, which uses another peak than %s and is ignored", percent, r.gate.profile.Name)
	}
}

// steadiness judges the slowest rank's time of every step.
func (r *review) steadiness(steady []float64) {
	sorted := slices.Sorted(slices.Values(steady))
	p50, p95 := check.Percentile(sorted, 50), check.Percentile(sorted, 95)
	mean, deviation := spread(steady)
	first, last := ends(steady)
	t := r.gate.profile.Training
	for _, m := range []struct {
		name, unit, key, text string
		value, limit          float64
		source                string
	}{
		{"step time p95/p50", "ratio", "maxP95P50", "the 95th percentile of the step time is %.3f times the median, the maximum is %.3f", p95 / p50, t.MaxP95P50.Value, t.MaxP95P50.Source},
		{"step time CV", "fraction", "maxCV", "the coefficient of variation of the step time is %.4f, the maximum is %.4f", deviation / mean, t.MaxCV.Value, t.MaxCV.Source},
		{"step time drift", "fraction", "maxDrift", "the step time drifts by %.4f from the first to the last third of the run, the maximum is %.4f", math.Abs(last-first) / first, t.MaxDrift.Value, t.MaxDrift.Source},
	} {
		r.figure(m.name, m.value, m.unit, m.limit, "<=", "profile training."+m.key+": "+m.source)
		if m.value > m.limit {
			r.Fail(r.jobID, "step time of job "+jobName, remedyStep, m.text, m.value, m.limit)
		}
	}
}

// lag compares the slowest rank with the median of all, by the step times that all ranks print.
func (r *review) lag(perRank map[int]float64) {
	if len(perRank) != r.gate.ranks() {
		r.stragglers(len(perRank))
		return
	}
	limit := r.gate.profile.Training.MaxRankLag
	slowest := slices.MaxFunc(slices.Sorted(maps.Keys(perRank)), func(a, b int) int { return cmp.Compare(perRank[a], perRank[b]) })
	lag := perRank[slowest]/median(slices.Collect(maps.Values(perRank))) - 1
	node := r.nodeOf(slowest)
	r.Figure(check.Figure{Name: "slowest rank", Value: float64(slowest)})
	r.slowestText = fmt.Sprintf("; the slowest rank is %d on %s, %.1f %% behind the median", slowest, node, 100*lag)
	r.figure("lag of the slowest rank", lag, "fraction", limit.Value, "<=", "profile training.maxRankLag: "+limit.Source)
	if lag > limit.Value {
		r.Fail(r.jobID, fmt.Sprintf("%s (rank %d)", node, slowest), remedyLag, "rank %d on %s is %.1f %% slower than the median rank, the maximum is %.1f %%", slowest, node, 100*lag, 100*limit.Value)
	}
}

func (r *review) figure(name string, value float64, unit string, limit float64, relation, source string) {
	r.Figure(check.Figure{Name: name, Value: value, Unit: unit, Limit: limit, Relation: relation, Source: source})
}
