package inference

import (
	"github.com/firstlight/firstlight/internal/check"
)

// rate requires that the server accepts requests at the offered rate. Latencies are measured
// from the send time, so they do not include the wait in the client; the wait in the server's
// queue delays the first token independently of prefill. If answers are slow and the queue is
// short, the wait in the client is a consequence.
func (r *review) rate(id string, f LoadFigures, m measured, slow bool) {
	limit, _ := r.gate.ttftLimit()
	const allowed = "TTFT objective: a waiting request has no first token"
	if f.Queue != nil {
		r.Figure(check.Figure{Name: "mean wait in the server's queue", Value: *f.Queue, Unit: "ms", Limit: limit, Relation: "<=", Source: allowed})
	}
	suspect := "server of job " + jobName + " (rate)"
	switch {
	case f.Queue != nil && *f.Queue > limit:
		r.Fail(id, suspect, remedyQueue,
			"the offered rate of %g requests/s is not met: the server sustains %.1f, and the mean wait in its queue is %.0f ms, the maximum is the %.0f ms of the TTFT objective",
			f.RatePerSecond, float64(len(m.ttft))/f.Seconds, *f.Queue, limit)
	case m.lag > limit && !slow:
		r.Fail(id, suspect, remedyRate, "the offered rate of %g requests/s is not met: with %d requests at a time, a request was sent %.0f ms late, the maximum is the %.0f ms of the TTFT objective", f.RatePerSecond, f.Concurrency, m.lag, limit)
	}
}

// pauses compares the gaps between tokens with their limit: TPOT is a mean over an answer, which
// hides a pause.
func (r *review) pauses(id string, itl, limit float64) {
	switch {
	case limit <= 0:
		r.Unobserved(id, "site workloads.inference", "set itlP99", "the time between tokens has no objective")
	case itl <= 0:
		r.Unobserved(id, "job "+jobName, remedyRun, "no time between tokens was measured")
	case itl > limit:
		r.Fail(id, "server of job "+jobName+" (ITL)", remedyITL, "the time between tokens (ITL) is %.0f ms at p99, the objective is %.0f ms", itl, limit)
	}
}
