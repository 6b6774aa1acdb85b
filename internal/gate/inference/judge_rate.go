package inference

import (
	"github.com/firstlight/firstlight/internal/check"
)

// rate demands that the server takes requests as they come: latencies count from the
// sending, so that what waits here is in none of them, and what waits in the server's
// queue makes the first token late whatever prefill takes. Where answers are slow and the
// queue is short, a request that waits here is their effect.
func (r *review) rate(id string, f LoadFigures, m measured, slow bool) {
	limit, _ := r.gate.ttftLimit()
	const allowed = "TTFT objective: a request that waits has no token either"
	if f.Queue != nil {
		r.Figure(check.Figure{Name: "mean wait in the server's queue", Value: *f.Queue, Unit: "ms", Limit: limit, Relation: "<=", Source: allowed})
	}
	suspect := "server of job " + jobName + " (rate)"
	switch {
	case f.Queue != nil && *f.Queue > limit:
		r.Fail(id, suspect, remedyQueue, "the offered rate of %g requests/s is not kept: the server sustains %.1f, and a request waited %.0f ms on average in its queue, allowed are the %.0f ms of the TTFT objective", f.RatePerSecond, float64(len(m.ttft))/f.Seconds, *f.Queue, limit)
	case m.lag > limit && !slow:
		r.Fail(id, suspect, remedyRate, "the offered rate of %g requests/s is not kept: with %d requests at a time a request was sent %.0f ms after its time, allowed are the %.0f ms of the TTFT objective", f.RatePerSecond, f.Concurrency, m.lag, limit)
	}
}

// pauses holds the gaps between tokens against their limit: TPOT is a mean over an answer,
// in which a pause drowns.
func (r *review) pauses(id string, itl, limit float64) {
	switch {
	case limit <= 0:
		r.Unobserved(id, "site workloads.inference", "give itlP99", "there is no objective to hold the time between tokens against")
	case itl <= 0:
		r.Unobserved(id, "job "+jobName, remedyRun, "no time between tokens was measured")
	case itl > limit:
		r.Fail(id, "server of job "+jobName+" (ITL)", remedyITL, "the time between tokens (ITL) is %.0f ms at p99, the objective is %.0f ms", itl, limit)
	}
}
