package controller

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/reservation/store/storetest"
)

var shared storetest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// oneCell is a batch of one cell, which holds a lease while it runs.
type oneCell struct {
	b     *broker.Broker
	fails error // of Plan
	runs  int
}

func (*oneCell) Cutoff(until time.Time) time.Time { return until.Add(-time.Hour) }

func (o *oneCell) Plan(context.Context, config.Reservation) (matrix.Lane, error) {
	return matrix.Lane{
		Cells:    []matrix.Cell{{Version: config.MainBranch, Intent: config.Training, Outcome: matrix.Pending}},
		HeldBack: []matrix.HeldBack{{Version: "v1.0.0", Intent: config.Training, Reason: "it is below its floor"}},
	}, o.fails
}

func (o *oneCell) Run(ctx context.Context, l Leg) ([]matrix.Cell, error) {
	done := l.Waiting(l.Cutoff)
	g, err := o.b.Acquire(ctx, broker.Request{Reservations: []string{l.Row.Name}, Wait: true, Ticket: lease.Ticket{Holder: "team-x/nightly", RenewInterval: lease.Duration(time.Minute)}})
	done()
	if err != nil {
		return l.Cells, err
	}
	o.runs++
	l.Cells[0].Outcome, l.Cells[0].Token, l.Cells[0].Attempts = matrix.Running, g[0].Token, l.Cells[0].Attempts+1
	if err := l.Record(ctx, l.Cells); err != nil {
		return l.Cells, err
	}
	l.Cells[0].Outcome = matrix.Passed
	return l.Cells, o.b.Release(ctx, l.Row.Name, g[0].Token, "done")
}

// houses counts them.
var harnesses atomic.Int64

// house is a controller with all that it needs, and a clock that jumps.
type harness struct {
	opts  Options
	cloud *cloud
	batch *oneCell
	b     *broker.Broker
	k     *store.Kube
	clock *clock.File
	name  string
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// schedule is up at 15:00, down at 02:00, batch at 04:00, by the clock of Berlin.
const schedule = `zone: Europe/Berlin
entries:
- {name: %[1]s-up, action: up, cron: "0 15 * * *", window: 3h20m}
- {name: %[1]s-down, action: down, cron: "0 2 * * *", window: 1h30m}
- {name: %[1]s-batch, action: batch, cron: "0 4 * * *", window: 5h50m}
margins:
- {from: %[1]s-down, to: %[1]s-batch, at-least: 10m}
`

func newHarness(t *testing.T, name string, from time.Time) *harness {
	t.Helper()
	k := shared.Kube(t)
	name += "-" + strconv.FormatInt(harnesses.Add(1), 36) // tests may be repeated with the same store
	cl, err := clock.Open(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.Jump(from); err != nil {
		t.Fatal(err)
	}
	times, err := calendar.Parse("schedule.yaml", fmt.Appendf(nil, schedule, name))
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{cloud: newCloud(), k: k, clock: cl, name: name}
	h.b = broker.New(broker.Options{Store: k, Clock: cl, Grace: 20 * time.Millisecond, Poll: 10 * time.Millisecond})
	h.batch = &oneCell{b: h.b}
	row := config.Reservation{Name: name, Slug: "r1", Cloud: config.AWS, Accelerator: "h100", GPUCount: 8, DaytimeIntent: config.Training}
	if _, err := k.Apply(t.Context(), map[string]store.Spec{name: {Cloud: "aws"}}); err != nil {
		t.Fatal(err)
	}
	h.opts = Options{
		Registry: &config.Registry{Reservations: []config.Reservation{row}}, Schedule: times, Store: k, Broker: h.b, Batch: h.batch, Clock: cl,
		Rotation:      NewRotation(RotationOptions{Broker: h.b, Store: k, Hooks: h.cloud, Now: cl.Now, Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return nil }}),
		SweepInterval: 10 * time.Millisecond, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	return h
}

// play runs a controller until a time of day: while it has nothing to do, the clock jumps
// to what is due next. meanwhile is called each time before it does.
func (h *harness) play(t *testing.T, until time.Time, meanwhile func(now time.Time) (jump bool)) error {
	t.Helper()
	c := New(h.opts)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for before := int64(-1); h.clock.Now().Before(until); {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			t.Fatal("it did not get there")
		case <-look.C:
		}
		s := c.Status()
		if !s.Idle || s.Changes != before || h.busy(t) {
			before = s.Changes
			continue
		}
		if meanwhile != nil && !meanwhile(h.clock.Now()) {
			continue
		}
		next := s.Next
		if next.After(until) { // on a busy machine the controller once acted at that time before it ended
			next = until
		}
		if err := h.clock.Jump(next); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	return <-ended
}

// busy reports whether work is in progress that the controller has not noticed.
func (h *harness) busy(t *testing.T) bool {
	t.Helper()
	r, err := h.k.Get(t.Context(), h.name)
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Status
	renewed := s.Lease != nil && s.Lease.RenewInterval.Duration > 0
	return renewed || s.Lease.Offered() || s.CurrentState() == lease.Free && len(s.Queue) > 0 || s.CurrentState() == lease.Dirty && !s.DirtyInfo.ManualOnly && s.DirtyInfo.Attempts == 0
}

// done are the hand-overs of this house, by their entry.
func (h *harness) done(t *testing.T) map[string][]*store.HandOver {
	t.Helper()
	all, err := h.k.ListHandOvers(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]*store.HandOver{}
	for _, o := range all {
		if entry, ok := trimmed(o.Spec.Entry, h.name); ok {
			out[entry] = append(out[entry], o)
		}
	}
	return out
}
