package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// loadFigures are samples of GPU clocks during the diagnostic.
type loadFigures struct {
	Samples [][]nvidia.Clock `json:"samples"`
}

// The sampling interval grows from firstPause to longestPause: a diagnostic takes
// seconds in a lab and half an hour on hardware.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 10 * time.Second
)

// underLoad runs the diagnostic and samples the GPU clocks meanwhile. The diagnostic ends with its session: one that
// runs on loads the GPUs of the host, and the next one is refused.
func (g *Gate) underLoad(ctx context.Context, rec check.Recorder, host string, diag command) (ran, error) {
	ended := make(chan struct{})
	var work errgroup.Group
	work.Go(func() error { return g.sampleClocks(ctx, rec, host, ended) })
	r, err := g.run(ssh.WithLoad(ctx, site.DiagnosticTimeout), rec, host, diag)
	close(ended)
	return r, errors.Join(err, work.Wait())
}

// sampleClocks samples until the diagnostic has ended and records one observation. It
// finishes a started sample, which may be the only one under load.
func (g *Gate) sampleClocks(ctx context.Context, rec check.Recorder, host string, ended <-chan struct{}) error {
	query := nvidia.ClockQuery()
	ctx = ssh.Within(ctx, commandWithin)
	attempt := g.observer(rec).Begin(kindLoad, host, ssh.Quote(query))
	var figures loadFigures
	var output []byte
	var failed error
	for pause, more := firstPause, true; more; pause = min(2*pause, longestPause) {
		out, err := g.deps.Hosts.Run(ctx, host, query...)
		var clocks []nvidia.Clock
		attempt = attempt.From(out.Origin)
		if err == nil {
			output = append(output, onhost.Raw(out)...)
			clocks, err = nvidia.ParseClocks(out.Stdout)
		}
		if err == nil {
			figures.Samples = append(figures.Samples, clocks)
		} else {
			failed = err
		}
		more = wait(ctx, ended, pause)
	}
	attempt = attempt.Raw(output)
	if len(figures.Samples) == 0 {
		return attempt.Record(nil, fmt.Errorf("%s during the diagnostic: %w", ssh.Quote(query), failed))
	}
	return attempt.Record(figures, nil)
}

// wait waits for pause; false if the diagnostic or ctx ended first.
func wait(ctx context.Context, ended <-chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ended:
		return false
	case <-ctx.Done():
		return false
	}
}

// atLimit is the fraction of its power limit from which a GPU counts as power-limited: its
// draw varies by some per cent below the limit.
const atLimit = 0.95

// best is the highest clock of a GPU under load. limited is set if the GPU was at its power
// limit in every such sample: there the clock of a healthy GPU drops too.
type best struct {
	clock   int64
	limited bool
}

func (g *Gate) bestClocks(samples [][]nvidia.Clock) map[string]best {
	busy := g.profile.Telemetry.MinUtilUnderLoad.Value
	out := map[string]best{}
	for _, sample := range samples {
		for _, c := range sample {
			if c.Util == nil || c.SMClockMHz == nil || float64(*c.Util) < busy {
				continue
			}
			was, seen := out[c.UUID]
			limited := c.PowerW != nil && c.PowerLimitW != nil && *c.PowerW >= atLimit**c.PowerLimitW
			out[c.UUID] = best{max(was.clock, *c.SMClockMHz), limited && (was.limited || !seen)}
		}
	}
	return out
}

// judgeLoad requires that every GPU was sampled under load and that its clock reached the
// profile's minimum: locked clocks show nowhere else. A GPU that always ran at its power
// limit is unobserved.
func (g *Gate) judgeLoad(b *check.Builder, h *host, at slots) {
	const runAgain = "run again: firstlight accept --from node"
	doc, ok := h.latest()
	if !ok || !h.load.ok() {
		return // reported by judgeUnobserved
	}
	want, samples := g.profile.GPU.MinLoadSMClock.Value, h.load.fig.Samples
	clocks := g.bestClocks(samples)
	for _, gpu := range doc.log.GPUs {
		top, seen := clocks[gpu.UUID]
		switch suspect := at.gpu(h, gpu.BusID); {
		case !seen && gpu.MIG.On():
			b.Unobserved(h.load.obs.ID, suspect, remedyWholeGPUs, "is in MIG mode, in which nvidia-smi reports no utilization: its clock under load is unknown")
		case !seen:
			b.Unobserved(h.load.obs.ID, suspect, runAgain, "was not under load in any of %d samples during the diagnostic", len(samples))
		case float64(top.clock) >= want:
		case top.limited:
			b.Unobserved(h.load.obs.ID, suspect, runAgain, "was at its power limit in every sample under load, with an SM clock up to %d MHz: whether it can reach %g MHz is unknown", top.clock, want)
		default:
			b.Fail(h.load.obs.ID, suspect, remedyClocks, "its SM clock rose to %d MHz under the diagnostic's load, expected at least %g MHz", top.clock, want)
		}
	}
}
