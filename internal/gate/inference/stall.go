package inference

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/site"
)

// measureAttempts is the maximum number of measurements if the load generator stalls: a busy machine
// is often idle enough half a minute later. All of them are in the evidence, and the last one decides.
const measureAttempts = 6

// maxLateness is the maximum share of the TTFT objective by which an open loop may be late at the 99th
// percentile: latencies count from the due time, and the rest would be the load generator's.
const maxLateness = 0.01

// sentLate is by how much the load generator of an open loop sent requests too late; "" if it did not.
func (g *Gate) sentLate(f LoadFigures) string {
	ttft, _ := g.ttftLimit()
	if p99, most := lateness(f), maxLateness*ttft; f.Client == site.ClientCluster && p99 > most {
		return fmt.Sprintf("requests were sent %.1f ms after they were due at p99, the maximum is %.1f ms (%g %% of the TTFT objective)", p99, most, maxLateness*100)
	}
	return ""
}

// lateness is the 99th percentile of the time between due and sent, in ms.
func lateness(f LoadFigures) float64 {
	var late []float64
	for _, q := range f.Requests {
		late = append(late, q.Sent-q.Due)
	}
	return load.PercentilesOf(late).P99
}

// counted are the measured requests with the latencies that are judged: of an open loop from the time
// when a request was due, otherwise from when it was sent.
func counted(f LoadFigures) []Request {
	if f.Client != site.ClientCluster {
		return f.Requests
	}
	out := slices.Clone(f.Requests)
	for i := range out {
		late := out[i].Sent - out[i].Due
		out[i].TTFT, out[i].E2E = later(out[i].TTFT, late), later(out[i].E2E, late)
	}
	return out
}

func later(ms *float64, by float64) *float64 {
	if ms == nil {
		return nil
	}
	return new(*ms + by)
}

// maxLateShare is the maximum share of a load's time that the server's steps may be late: above
// it, a busy machine causes the latencies.
const maxLateShare = 0.25

// stall explains why the machine and not the server may cause the figures of a load; "" if it
// does not.
func (g *Gate) stall(f LoadFigures) string {
	limit := g.profile.Inference.MaxClientStall.Value
	switch s := f.ServerLate; {
	case f.ClientStall > limit:
		return fmt.Sprintf("firstlight was not scheduled for %.0f ms (maximum %.0f)", f.ClientStall, limit)
	case s != nil && s.Max > limit:
		return fmt.Sprintf("by %s a step of the server was late by %.0f ms (maximum %.0f), since its machine was busy", load.LateMax, s.Max, limit)
	case s != nil && s.Sum > maxLateShare*f.Seconds*1e3:
		return fmt.Sprintf("by %s the server's steps were late by %.0f ms in %.1f s (maximum %.0f %%), since its machine was busy", load.LateSum, s.Sum, f.Seconds, maxLateShare*100)
	case g.networkDelay(f):
		return fmt.Sprintf("by the server's metrics 99 %% of the first tokens took at most %.0f ms and of the others at most %.0f ms: the rest is network delay", *f.ServerTTFT, *f.ServerITL)
	case g.meets(f, own(f)):
		return fmt.Sprintf("firstlight was not scheduled for %.0f ms, without which the objective may be met", f.ClientStall)
	default:
		return ""
	}
}

// networkDelay reports whether requests were sent in time and the server's metrics meet the
// objective: the path to the server (the API server's proxy, a busy machine) delayed answers.
func (g *Gate) networkDelay(f LoadFigures) bool {
	if f.ServerTTFT == nil || f.ServerITL == nil || f.Client == site.ClientCluster { // the cluster's network is part of the service
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return measure(f.Requests).lag <= ttft && *f.ServerTTFT <= ttft && *f.ServerITL <= min(tpot, itl)
}

// own is the part of a TTFT that the machine may cause, in ms: the longest stall once at the
// request and once at the answer, and the latest step of the server.
func own(f LoadFigures) float64 {
	own := 2 * f.ClientStall
	if f.ServerLate != nil {
		own += f.ServerLate.Max
	}
	return own
}

// meets reports whether the load meets the objective and was sent in time, after subtracting off
// (in ms) from TTFT and send delays, and its share per gap from TPOT.
func (g *Gate) meets(f LoadFigures, off float64) bool {
	m := measure(counted(f))
	if len(m.tpot) == 0 {
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return m.lag-off <= ttft && f.ITL.P99-off <= itl && load.PercentilesOf(m.ttft).P99-off <= ttft && load.PercentilesOf(m.tpot).P99-off/float64(max(1, f.OutputTokens-1)) <= tpot
}

// spoiled reports whether an open loop was late, or the figures miss the objective and the machine of
// the load generator was too busy to measure them.
func (g *Gate) spoiled(f LoadFigures) bool {
	return len(measure(f.Requests).ttft) > 0 && (g.sentLate(f) != "" || !g.meets(f, 0) && g.stall(f) != "")
}
