package inference

import (
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// heartbeat is how often the load generator looks whether it gets to run.
const heartbeat = 5 * time.Millisecond

// watchStalls watches this process until the function that it returns is
// called, which tells the longest time for which it did not get to run.
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

// measureAttempts is how often a load is measured when this process stalled.
const measureAttempts = 3

// The samples of a simulated server that tell how late it was, in seconds.
const (
	lateSum = "firstlight_simulation_late_seconds_sum"
	lateMax = "firstlight_simulation_late_seconds_max"
)

// maxLateShare is how much of the time of a load the steps of a simulated server may have
// been late: above it a busy machine, and not what is simulated, makes the latencies.
const maxLateShare = 0.25

// simulationOf is how late a server is by its metrics; nil where it is a real one, or does
// not say.
func simulationOf(raw []byte) *Simulation {
	value := func(name string) *float64 {
		samples, err := prom.ParseExposition(raw, name)
		if err != nil || len(samples) != 1 {
			return nil
		}
		return &samples[0].Value
	}
	late, latest := value(lateSum), value(lateMax)
	if late == nil || latest == nil {
		return nil
	}
	return &Simulation{Late: *late * 1e3, Latest: *latest * 1e3}
}

// stall is why the figures of a load may be the machine's and not the server's; empty:
// they are the server's.
func (g *Gate) stall(f LoadFigures) string {
	limit := g.profile.Inference.MaxClientStall.Value
	switch s := f.Simulation; {
	case f.ClientStall > limit:
		return fmt.Sprintf("firstlight itself did not get to run for %.0f ms (at most %.0f)", f.ClientStall, limit)
	case s != nil && s.Latest > limit:
		return fmt.Sprintf("a step of the simulated server was late by %.0f ms (at most %.0f), since its machine did not run it", s.Latest, limit)
	case s != nil && s.Late > maxLateShare*f.Seconds*1e3:
		return fmt.Sprintf("the simulated server was late by %.0f ms in %.1f s (at most %.0f %%), since its machine did not run it", s.Late, f.Seconds, maxLateShare*100)
	case g.lostOnTheWay(f):
		return fmt.Sprintf("by the server's own metrics 99 %% of the first tokens came within %.0f ms and of the others within %.0f ms: the rest is of the way between", *f.ServerTTFT, *f.ServerITL)
	case g.meets(f, f.own()):
		return fmt.Sprintf("firstlight itself did not get to run for %.0f ms, without which the objective may be met", f.ClientStall)
	default:
		return ""
	}
}

// lostOnTheWay says that the latencies miss the objective, requests were sent in time, and
// the server's own metrics meet it: the way to the server (the API server's proxy, a
// machine that did not run it) kept answers back.
func (g *Gate) lostOnTheWay(f LoadFigures) bool {
	if f.ServerTTFT == nil || f.ServerITL == nil {
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return measure(f.Requests).lag <= ttft && *f.ServerTTFT <= ttft && *f.ServerITL <= min(tpot, itl)
}

// own is how much of a TTFT, in ms, may be the machine's: the longest stall once when a
// request was sent and once when it was answered, and that of a simulated server.
func (f LoadFigures) own() float64 {
	own := 2 * f.ClientStall
	if f.Simulation != nil {
		own += f.Simulation.Latest
	}
	return own
}

// meets says that the load meets the objective, and was sent in time, so many ms taken off
// its TTFT and off how late requests were sent, and that divided by its gaps off its TPOT.
func (g *Gate) meets(f LoadFigures, off float64) bool {
	m := measure(f.Requests)
	if len(m.ttft) == 0 || len(m.tpot) == 0 {
		return false
	}
	ttft, _ := g.ttftLimit()
	tpot, _ := g.tpotLimit()
	itl, _ := g.itlLimit()
	return m.lag-off <= ttft && f.ITL.P99-off <= itl && percentilesOf(m.ttft).P99-off <= ttft && percentilesOf(m.tpot).P99-off/float64(max(1, f.OutputTokens-1)) <= tpot
}

// spoiled says that the figures miss the objective, and that this machine was too busy to
// measure them: then nobody knows whose time it was.
func (g *Gate) spoiled(f LoadFigures) bool {
	return len(measure(f.Requests).ttft) > 0 && !g.meets(f, 0) && g.stall(f) != ""
}
