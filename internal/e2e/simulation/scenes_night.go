package simulation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// leftover is a deployment without a lease.
const leftover = "fl-left-over"

// missedTeardown: a deployment without a lease exists before a night. The guard finds it, an
// operator removes it, and the batch continues in its window.
func missedTeardown() scene {
	return scene{
		name: "missed-teardown", title: "a missed teardown: the guard blocks the batch until an operator removes the deployment",
		events: func(m time.Time) []*event {
			return []*event{
				{at: clockTime(m, 3, 30), what: "a cluster exists on " + inferenceCloud + " without a lease", do: leave(inferenceCloud)},
				{at: clockTime(m, 5, 30), what: "an operator runs rotation down --reservation " + inferenceCloud, when: blocked(inferenceCloud), do: func(ctx context.Context, p *runner) error {
					_, err := p.firstlight(ctx, "reservation", "rotation", "down", "--reservation", inferenceCloud, "--clock", p.clockPath())
					return err
				}},
			}
		},
		expect: func(m dayRecord) []Finding {
			out := append(m.allWell(), m.happened(inferenceCloud, "", lease.Quarantined, lease.Cleaned)...)
			if !m.hasEvent(inferenceCloud, lease.Quarantined, leftover) {
				out = append(out, newFinding("the guard", "it did not name "+leftover))
			}
			for _, c := range m.row(m.batch, inferenceCloud).Cells {
				if c.Started != nil && c.Started.Time.Before(clockTime(m.begins, 5, 30)) {
					out = append(out, newFinding(inferenceCloud+" "+c.Name(), "it ran while "+leftover+" existed"))
				}
			}
			return out
		},
	}
}

// crash: the controller is killed while a cell runs, and another one is started.
func crash() scene {
	return scene{
		name: "crash", title: "the controller is killed during a cell",
		events: func(m time.Time) []*event {
			return []*event{{at: clockTime(m, 4, 0), what: "kill -9 of the controller, and a new one", when: running(trainingCloud), do: func(ctx context.Context, p *runner) error {
				c := p.leader(ctx)
				if c == nil {
					return errNoLeader
				}
				c.stopped = true
				c.kill()
				return p.startController(ctx)
			}}}
		},
		expect: func(m dayRecord) []Finding { return append(m.allWell(), m.twice(trainingCloud)...) },
	}
}

// twoControllers: the controller is stopped for longer than its leases last, and continued after
// another one has done its work. It must not do anything any more.
func twoControllers() scene {
	return scene{
		name: "two-controllers", title: "the controller is suspended during a cell, and another takes over",
		events: func(m time.Time) []*event {
			var still *process
			return []*event{
				{at: clockTime(m, 20, 0), what: "a second controller is started", do: func(ctx context.Context, p *runner) error {
					return p.startController(ctx)
				}},
				{at: clockTime(m, 4, 0), what: "SIGSTOP of the controller", when: running(trainingCloud), do: func(ctx context.Context, p *runner) error {
					if still = p.leader(ctx); still == nil {
						return errNoLeader
					}
					still.stopped = true
					still.signal(syscall.SIGSTOP)
					return nil
				}},
				{at: clockTime(m, 4, 0), what: "SIGCONT of the suspended controller", when: finished("nightly-batch", clockTime(m, 4, 0)), do: func(_ context.Context, p *runner) error {
					still.signal(syscall.SIGCONT)
					select {
					case <-still.ended:
					case <-time.After(endWithin):
						p.addFinding(newFinding(still.name, "it was suspended for longer than its Lease, but continues to work"))
						still.kill()
					}
					if still.err == nil {
						p.addFinding(newFinding(still.name, "it lost leadership, but exited with status 0"))
					}
					return nil
				}},
			}
		},
		expect: func(m dayRecord) []Finding { return append(m.allWell(), m.twice(trainingCloud)...) },
	}
}

// brokenCloud: two provisions and two teardowns fail, and one version does not pass.
func brokenCloud() scene {
	return scene{
		name: "broken-cloud", title: "the cloud fails: two provisions, two teardowns, and one cell",
		events: func(m time.Time) []*event {
			return []*event{
				{at: m.Add(-time.Minute), what: "the cloud breaks", do: func(_ context.Context, p *runner) error {
					return p.write("home/hooklabs/defects.yaml", fmt.Sprintf(`defects:
- {reservation: %[1]s, intent: training, times: 2, defect: provision-fails}
- {reservation: %[2]s, times: 2, defect: teardown-fails}
- {reservation: %[1]s, version: v1.4.0, intent: inference, times: 1, defect: no-gpus}
`, trainingCloud, inferenceCloud))
				}},
			}
		},
		expect: func(m dayRecord) []Finding {
			out := m.handedOver()
			if row := m.row(m.up, trainingCloud); row.Attempts < 3 {
				out = append(out, newFinding("morning-up of "+trainingCloud, fmt.Sprintf("two provisions failed, but it was tried %d times", row.Attempts)))
			}
			if !m.any(inferenceCloud, "", lease.CleanFailed) {
				out = append(out, newFinding("evening-down of "+inferenceCloud, "teardowns failed, but the history has no failure"))
			}
			return append(out, m.cells(map[string]matrix.Outcome{trainingCloud + " v1.4.0/inference": matrix.Failed})...)
		},
	}
}

// leave creates a deployment through the hook, without a lease.
func leave(reservation string) func(context.Context, *runner) error {
	return func(ctx context.Context, p *runner) error {
		r, err := p.store.Get(ctx, reservation)
		if err != nil {
			return err
		}
		return p.provision(ctx, reservation, leftover, r.Status.Token)
	}
}

func blocked(reservation string) func(context.Context, *runner) (bool, error) {
	return func(ctx context.Context, p *runner) (bool, error) {
		r, err := p.store.Get(ctx, reservation)
		if err != nil {
			return false, err
		}
		return r.Status.CurrentState() == lease.Dirty && r.Status.DirtyInfo.ManualOnly, nil
	}
}

// running reports whether a cell of the night is running.
func running(reservation string) func(context.Context, *runner) (bool, error) {
	return func(ctx context.Context, p *runner) (bool, error) {
		all, err := p.store.ListHandOvers(ctx, p.clock.Now().Add(-12*time.Hour))
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(all, func(h *store.HandOver) bool {
			return h.Status.Finished == nil && slices.ContainsFunc(h.Status.Row(reservation).Cells, func(c matrix.Cell) bool {
				return c.Outcome == matrix.Running && c.Deployment != "" && c.Intent == config.Inference
			})
		}), nil
	}
}

func finished(entry string, at time.Time) func(context.Context, *runner) (bool, error) {
	return func(ctx context.Context, p *runner) (bool, error) {
		all, err := p.store.ListHandOvers(ctx, at)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(all, func(h *store.HandOver) bool {
			return h.Spec.Entry == entry && h.Spec.At.Time.Equal(at) && h.Status.Finished != nil
		}), nil
	}
}

// contains searches the reason of an event.
func contains(t lease.Event, text string) bool { return strings.Contains(t.Reason, text) }
