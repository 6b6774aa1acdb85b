package batch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/rotation"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Hooks do the clouds' part. A hook.Client is one.
type Hooks interface {
	Owner() string
	Discover(ctx context.Context, cloud registry.Cloud, row *registry.Reservation, l hook.Lease) ([]hook.Deployment, error)
	Provision(ctx context.Context, row registry.Reservation, intent registry.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Test(ctx context.Context, row registry.Reservation, version string, intent registry.Intent, name string, l hook.Lease) (hook.Result, error)
}

// Store reads reservations as they are.
type Store interface {
	Fresh(ctx context.Context, name string) (*store.Reservation, error)
}

// Options of a Batch.
type Options struct {
	Broker *broker.Broker
	Store  Store
	Hooks  Hooks
	// Ready returns when a deployment may be used, or why it may not.
	Ready func(ctx context.Context, row registry.Reservation, name string, l hook.Lease) error
	// Clean takes down what a lease has left; see rotation.Rotation.
	Clean func(ctx context.Context, row registry.Reservation, by string, byHand bool) (rotation.Outcome, error)
	// Clock is nil for the machine's.
	Clock clock.Clock
	// Period is within what time the leases have to be renewed (1 minute).
	Period time.Duration
	// Pause is how long it waits, by the clock, before it looks again at a cloud that could
	// not be looked at (1 minute).
	Pause time.Duration
	// Poll is how often a leg that waits asks whether a newer batch has begun (1 second).
	Poll time.Duration
	// Log is nil for none.
	Log *slog.Logger
}

// Batch runs legs. Its methods may be called from many goroutines.
type Batch struct{ opts Options }

// New makes one.
func New(opts Options) *Batch {
	if opts.Clock == nil {
		opts.Clock = clock.Machine()
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	for of, usual := range map[*time.Duration]time.Duration{&opts.Period: time.Minute, &opts.Pause: time.Minute, &opts.Poll: time.Second} {
		if *of == 0 {
			*of = usual
		}
	}
	return &Batch{opts: opts}
}

// Holder is who holds the leases of the cells.
func (b *Batch) Holder() string { return b.opts.Hooks.Owner() + "/nightly" }

// Leg is what a night does at one reservation.
type Leg struct {
	Row registry.Reservation
	// Cells are as they were written down: those that have ended are left alone.
	Cells []matrix.Cell
	// Cutoff is until when a cell may begin; Until is when the window ends, and what is still
	// being taken down is left to whoever cleans.
	Cutoff, Until time.Time
	// Limit is how long a cell may take before it is taken down; 0: as long as the window.
	Limit time.Duration
	// Record writes the cells down, before each step that follows from them. Its error ends
	// the leg.
	Record func(ctx context.Context, cells []matrix.Cell) error
	// Newer tells that a newer batch of the reservation has begun; nil: there is none.
	Newer func() bool
	// Waiting, if set, is told that the leg waits for others, at the longest until then, and
	// what it answers is called when it goes on.
	Waiting func(until time.Time) (done func())
}

// Run does a leg, and answers its cells as they are then. Each has ended, unless there is
// an error: the context's cause, where that ended, with the cells as they were written
// down last; or what keeps the leg from going on.
func (b *Batch) Run(ctx context.Context, leg Leg) ([]matrix.Cell, error) {
	r := &run{Batch: b, Leg: leg, cells: clone(leg.Cells), written: clone(leg.Cells), log: b.opts.Log.With("reservation", leg.Row.Name)}
	if r.Limit <= 0 {
		r.Limit = leg.Until.Sub(b.opts.Clock.Now())
	}
	if r.Newer == nil {
		r.Newer = func() bool { return false }
	}
	if r.Waiting == nil {
		r.Waiting = func(time.Time) func() { return func() {} }
	}
	working, cancel := clock.WithEnd(ctx, b.opts.Clock, leg.Until)
	defer cancel()
	err := r.resume(working)
	for i := 0; err == nil && i < len(r.cells); i++ {
		err = r.cell(working, &r.cells[i])
	}
	err = errors.Join(err, r.leave(working))
	if ctx.Err() != nil && !over(ctx) {
		return r.written, context.Cause(ctx)
	}
	return r.cells, err
}

// run is a leg that is being run.
type run struct {
	*Batch
	Leg
	cells, written []matrix.Cell
	// busy says what the leg waits for; empty: nothing.
	busy string
	// turn is its place in the queue, if it has one.
	turn *turn
	log  *slog.Logger
}

func clone(cells []matrix.Cell) []matrix.Cell {
	out := make([]matrix.Cell, len(cells))
	for i, c := range cells {
		c.Started, c.Ended = c.Started.DeepCopy(), c.Ended.DeepCopy()
		out[i] = c
	}
	return out
}
