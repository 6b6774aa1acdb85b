package load

import (
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// vLLM's histograms, in seconds: the wait before scheduling, the time from arrival to the first
// token, and between tokens, which had another name until 0.10.
const (
	queueTime  = "vllm:request_queue_time_seconds"
	ttftMetric = "vllm:time_to_first_token_seconds"
	itlMetric  = "vllm:inter_token_latency_seconds"
	itlOlder   = "vllm:time_per_output_token_seconds"
)

// The metrics of how late the steps of a server ended because its machine was busy, in seconds. A
// server without them is not excused.
const (
	LateSum = "firstlight_simulation_late_seconds_sum"
	LateMax = "firstlight_simulation_late_seconds_max"
)

// addMetrics adds the server's own figures, from snapshots of its metrics before and after the load.
// Each is nil for a server without such a metric.
func (f *Figures) addMetrics(before, after []byte) {
	f.Queue = queueOf(before, after)
	f.ServerTTFT, f.ServerITL = p99Of(before, after, ttftMetric), p99Of(before, after, itlName(after))
	if before, after := lateOf(before), lateOf(after); before != nil && after != nil {
		f.ServerLate = &ServerLate{Sum: after.Sum - before.Sum, Max: after.Max}
	}
}

// itlName is the name of the histogram of the time between tokens.
func itlName(raw []byte) string {
	if _, err := prom.ParseHistogram(raw, itlMetric); err != nil {
		return itlOlder
	}
	return itlMetric
}

// queueOf is the mean wait in a server's queue between two snapshots of its metrics, in ms; nil
// if unknown.
func queueOf(before, after []byte) *float64 {
	h, ok := between(before, after, queueTime)
	if !ok {
		return nil
	}
	mean := h.Sum / h.Count * 1e3
	return &mean
}

// p99Of is the upper bound of 99 % of a histogram's values between two snapshots of the metrics,
// in ms; nil if unknown.
func p99Of(before, after []byte, name string) *float64 {
	h, _ := between(before, after, name)
	bound, ok := h.Within(0.99)
	if !ok {
		return nil
	}
	bound *= 1e3
	return &bound
}

// between is the difference of a histogram between two snapshots; false without new values.
func between(before, after []byte, name string) (prom.Histogram, bool) {
	b, errBefore := prom.ParseHistogram(before, name)
	a, errAfter := prom.ParseHistogram(after, name)
	if errBefore != nil || errAfter != nil || a.Count <= b.Count {
		return prom.Histogram{}, false
	}
	return a.Since(b), true
}

// lateOf is how late a server's steps were by its metrics; nil without them.
func lateOf(raw []byte) *ServerLate {
	value := func(name string) *float64 {
		samples, err := prom.ParseExposition(raw, name)
		if err != nil || len(samples) != 1 {
			return nil
		}
		return &samples[0].Value
	}
	sum, latest := value(LateSum), value(LateMax)
	if sum == nil || latest == nil {
		return nil
	}
	return &ServerLate{Sum: *sum * 1e3, Max: *latest * 1e3}
}
