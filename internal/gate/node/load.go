package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/nvidiasmi"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// loadFigures is how GPUs ran while the diagnostic loaded them, look by look.
type loadFigures struct {
	Looks [][]nvidiasmi.Clock `json:"looks"`
}

// Looks follow each other after firstPause, then more and more slowly: a diagnostic takes
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
	query := nvidiasmi.ClockQuery()
	o := check.Observation{Kind: kindLoad, Target: host, Command: ssh.Quote(query), At: g.deps.Now()}
	var seen loadFigures
	var failed error
	for pause, more := firstPause, true; more; pause = min(2*pause, longestPause) {
		out, err := g.deps.Hosts.Run(ctx, host, query...)
		var clocks []nvidiasmi.Clock
		if err == nil {
			o.Raw = append(o.Raw, raw(out)...)
			clocks, err = nvidiasmi.ParseClocks(out.Stdout)
		}
		if err == nil {
			seen.Looks = append(seen.Looks, clocks)
		} else {
			failed = err
		}
		more = wait(ctx, ended, pause)
	}
	o.Took = g.deps.Now().Sub(o.At)
	o, err := o.WithFigures(seen)
	if err != nil {
		return err //nolint:wrapcheck // names the observation
	}
	if len(seen.Looks) == 0 {
		o.Err = fmt.Sprintf("%s during the diagnostic: %v", o.Command, failed)
	}
	if _, err := rec.Record(o); err != nil {
		return fmt.Errorf("record %s of %s: %w", kindLoad, host, err)
	}
	return nil
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

// judgeLoad: every GPU was seen under load, and its clock rose as far as the profile
// demands. A lock of the clocks shows nowhere else.
func (g *Gate) judgeLoad(v *verdict, h *host, at places) {
	doc, ok := h.latest()
	if !ok || !h.load.ok() {
		return // judgeSeen has said so
	}
	busy, want := g.profile.Telemetry.MinUtilUnderLoad.Value, g.profile.GPU.MinLoadSMClock.Value
	highest := map[string]int64{}
	for _, look := range h.load.fig.Looks {
		for _, c := range look {
			if c.Util != nil && c.SMClockMHz != nil && float64(*c.Util) >= busy {
				highest[c.UUID] = max(highest[c.UUID], *c.SMClockMHz)
			}
		}
	}
	for _, gpu := range doc.log.GPUs {
		clock, seen := highest[gpu.UUID]
		switch suspect := at.gpu(h, gpu.BusID); {
		case !seen:
			v.miss(h.load.obs, suspect, fmt.Sprintf("was never seen under load during the diagnostic, in %d looks", len(h.load.fig.Looks)),
				"see that reach.ssh.concurrency leaves a login beside the diagnostics (2 at least), then walk again: firstlight accept --from node")
		case float64(clock) < want:
			v.fail(h.load.obs, suspect, fmt.Sprintf("its SM clock rose to %d MHz under the diagnostic's load, expected at least %g MHz", clock, want), remedyClocks)
		}
	}
}
