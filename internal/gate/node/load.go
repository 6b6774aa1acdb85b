package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// loadFigures is how GPUs ran while the diagnostic loaded them, look by look.
type loadFigures struct {
	Samples [][]nvidia.Clock `json:"samples"`
}

// Samples follow each other after firstPause, then more and more slowly: a diagnostic takes
// seconds in a lab and half an hour on hardware.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 10 * time.Second
)

// underLoad runs the diagnostic and looks at the GPUs meanwhile.
func (g *Gate) underLoad(ctx context.Context, rec check.Recorder, host string, diag command) (unreachable bool, err error) {
	ended := make(chan struct{})
	var work errgroup.Group
	work.Go(func() error { return g.look(ctx, rec, host, ended) })
	unreachable, err = g.run(ctx, rec, host, diag)
	close(ended)
	return unreachable, errors.Join(err, work.Wait())
}

// look records one observation of all looks at a host until the diagnostic has ended. A
// look that has begun is finished: it may be the only one that saw the load.
func (g *Gate) look(ctx context.Context, rec check.Recorder, host string, ended <-chan struct{}) error {
	query := nvidia.ClockQuery()
	attempt := g.observer(rec).Begin(kindLoad, host, ssh.Quote(query))
	var figures loadFigures
	var output []byte
	var failed error
	for pause, more := firstPause, true; more; pause = min(2*pause, longestPause) {
		out, err := g.deps.Hosts.Run(ctx, host, query...)
		var clocks []nvidia.Clock
		if err == nil {
			output = append(output, raw(out)...)
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

// wait is a pause; false when the diagnostic or ctx ended before it.
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

// atLimit is the part of its power limit from which on a GPU is held down by it: what it
// draws swings below the limit by some per cent.
const atLimit = 0.95

// best is the highest clock that a GPU was seen at under load; limited, that it was at its
// power limit in every such look: there the clock falls on healthy GPUs, too.
type best struct {
	clock   int64
	limited bool
}

func (g *Gate) bestClocks(looks [][]nvidia.Clock) map[string]best {
	busy := g.profile.Telemetry.MinUtilUnderLoad.Value
	out := map[string]best{}
	for _, look := range looks {
		for _, c := range look {
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

// judgeLoad: every GPU was seen under load, and its clock rose as far as the profile
// demands. A lock of the clocks shows nowhere else. Whether a GPU is locked that only ever
// ran at its power limit is not known.
func (g *Gate) judgeLoad(b *check.Builder, h *host, at slots) {
	const walkAgain = "see that reach.ssh.concurrency leaves a login beside the diagnostics (2 at least), then walk again: firstlight accept --from node"
	doc, ok := h.latest()
	if !ok || !h.load.ok() {
		return // judgeUnobserved has said so
	}
	want, looks := g.profile.GPU.MinLoadSMClock.Value, h.load.fig.Samples
	clocks := g.bestClocks(looks)
	for _, gpu := range doc.log.GPUs {
		top, seen := clocks[gpu.UUID]
		switch suspect := at.gpu(h, gpu.BusID); {
		case !seen:
			b.Unobserved(h.load.obs.ID, suspect, walkAgain, "was never seen under load during the diagnostic, in %d looks", len(looks))
		case float64(top.clock) >= want:
		case top.limited:
			b.Unobserved(h.load.obs.ID, suspect, walkAgain, "was seen under load at its power limit only, with an SM clock up to %d MHz: whether it would reach %g MHz is not known", top.clock, want)
		default:
			b.Fail(h.load.obs.ID, suspect, remedyClocks, "its SM clock rose to %d MHz under the diagnostic's load, expected at least %g MHz", top.clock, want)
		}
	}
}
