package inference

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// heartbeat is the interval at which the load generator checks its own scheduling.
const heartbeat = 5 * time.Millisecond

// watchStalls watches this process until the returned function is called, which returns the
// longest time for which the process was not scheduled.
func watchStalls(ctx context.Context) func() time.Duration {
	ctx, stop := context.WithCancel(ctx)
	longest := make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		last, worst := time.Now(), time.Duration(0)
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				longest <- worst
				return
			}
			now := time.Now()
			worst = max(worst, now.Sub(last)-heartbeat)
			last = now
		}
	}()
	return func() time.Duration {
		stop()
		return <-longest
	}
}

// measureAttempts is the maximum number of measurements if this process stalls.
const measureAttempts = 3

// The metrics of how late the steps of a server ended because its machine was busy, in seconds. A
// server without them is not excused.
const (
	lateSum = "firstlight_simulation_late_seconds_sum"
	lateMax = "firstlight_simulation_late_seconds_max"
)

// maxLateShare is the maximum share of a load's time that the server's steps may be late: above
// it, a busy machine causes the latencies.
const maxLateShare = 0.25

// lateOf is how late a server's steps were by its metrics; nil without them.
func lateOf(raw []byte) *ServerLate {
	value := func(name string) *float64 {
		samples, err := prom.ParseExposition(raw, name)
		if err != nil || len(samples) != 1 {
			return nil
		}
		return &samples[0].Value
	}
	sum, latest := value(lateSum), value(lateMax)
	if sum == nil || latest == nil {
		return nil
	}
	return &ServerLate{Sum: *sum * 1e3, Max: *latest * 1e3}
}

// stall explains why the machine and not the server may cause the figures of a load; "" if it
// does not.
func (g *Gate) stall(f LoadFigures) string {
	limit := g.profile.Inference.MaxClientStall.Value
	switch s := f.ServerLate; {
	case f.ClientStall > limit:
		return fmt.Sprintf("firstlight was not scheduled for %.0f ms (maximum %.0f)", f.ClientStall, limit)
	case s != nil && s.Max > limit:
		return fmt.Sprintf("by %s a step of the server was late by %.0f ms (maximum %.0f), since its machine was busy", lateMax, s.Max, limit)
	case s != nil && s.Sum > maxLateShare*f.Seconds*1e3:
		return fmt.Sprintf("by %s the server's steps were late by %.0f ms in %.1f s (maximum %.0f %%), since its machine was busy", lateSum, s.Sum, f.Seconds, maxLateShare*100)
	case g.networkDelay(f):
		return fmt.Sprintf("by the server's metrics 99 %% of the first tokens took at most %.0f ms and of the others at most %.0f ms: the rest is network delay", *f.ServerTTFT, *f.ServerITL)
	case g.meets(f, f.own()):
		return fmt.Sprintf("firstlight was not scheduled for %.0f ms, without which the objective may be met", f.ClientStall)
	default:
		return ""
	}
}

// networkDelay reports whether requests were sent in time and the server's metrics meet the
// objective: the path to the server (the API server's proxy, a busy machine) delayed answers.
func (g *Gate) networkDelay(f LoadFigures) bool {
	if f.ServerTTFT == nil || f.ServerITL == nil {
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return measure(f.Requests).lag <= ttft && *f.ServerTTFT <= ttft && *f.ServerITL <= min(tpot, itl)
}

// own is the part of a TTFT that the machine may cause, in ms: the longest stall once at the
// request and once at the answer, and the latest step of the server.
func (f LoadFigures) own() float64 {
	own := 2 * f.ClientStall
	if f.ServerLate != nil {
		own += f.ServerLate.Max
	}
	return own
}

// meets reports whether the load meets the objective and was sent in time, after subtracting off
// (in ms) from TTFT and send delays, and its share per gap from TPOT.
func (g *Gate) meets(f LoadFigures, off float64) bool {
	m := measure(f.Requests)
	if len(m.tpot) == 0 {
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return m.lag-off <= ttft && f.ITL.P99-off <= itl && percentilesOf(m.ttft).P99-off <= ttft && percentilesOf(m.tpot).P99-off/float64(max(1, f.OutputTokens-1)) <= tpot
}

// spoiled reports whether the figures miss the objective and this machine was too busy to
// measure them.
func (g *Gate) spoiled(f LoadFigures) bool {
	return len(measure(f.Requests).ttft) > 0 && !g.meets(f, 0) && g.stall(f) != ""
}
