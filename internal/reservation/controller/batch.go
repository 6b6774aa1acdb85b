package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Hooks do the clouds' part. A hook.Client is one.
type BatchHooks interface {
	Owner() string
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
	Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Test(ctx context.Context, row config.Reservation, version string, intent config.Intent, name string, l hook.Lease) (hook.Result, error)
}

// Store reads reservations as they are.
type BatchStore interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// Options of a Batch.
type BatchOptions struct {
	Broker *broker.Broker
	Store  BatchStore
	Hooks  BatchHooks
	// Ready returns when a deployment may be used, or why it may not.
	Ready func(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	// Clean takes down what a lease has left; see rotation.Rotation.
	Clean func(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error)
	// Clock is nil for the machine's.
	Clock clock.Clock
	// Period is within what time the leases have to be renewed (1 minute).
	RenewInterval time.Duration
	// Pause is how long it waits, by the clock, before it looks again at a cloud that could
	// not be looked at (1 minute).
	RetryInterval time.Duration
	// Poll is how often a leg that waits asks whether a newer batch has begun (1 second).
	PollInterval time.Duration
	// Log is nil for none.
	Log *slog.Logger
}

// Batch runs legs. Its methods may be called from many goroutines.
type Batch struct{ opts BatchOptions }

// New makes one.
func NewBatch(opts BatchOptions) *Batch {
	if opts.Clock == nil {
		opts.Clock = clock.Machine()
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	for of, usual := range map[*time.Duration]time.Duration{&opts.RenewInterval: time.Minute, &opts.RetryInterval: time.Minute, &opts.PollInterval: time.Second} {
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
	Row config.Reservation
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
	r := &legRun{Batch: b, Leg: leg, cells: cloneCells(leg.Cells), recorded: cloneCells(leg.Cells), log: b.opts.Log.With("reservation", leg.Row.Name)}
	if r.Limit <= 0 {
		r.Limit = leg.Until.Sub(b.opts.Clock.Now())
	}
	if r.Newer == nil {
		r.Newer = func() bool { return false }
	}
	if r.Waiting == nil {
		r.Waiting = func(time.Time) func() { return func() {} }
	}
	working, cancel := clock.WithDeadline(ctx, b.opts.Clock, leg.Until)
	defer cancel()
	err := r.resume(working)
	for i := 0; err == nil && i < len(r.cells); i++ {
		err = r.cell(working, &r.cells[i])
	}
	err = errors.Join(err, r.leaveQueue(working))
	if ctx.Err() != nil && !isWindowOver(ctx) {
		return r.recorded, context.Cause(ctx)
	}
	return r.cells, err
}

// run is a leg that is being run.
type legRun struct {
	*Batch
	Leg
	cells, recorded []matrix.Cell
	// busy says what the leg waits for; empty: nothing.
	waitReason string
	// turn is its place in the queue, if it has one.
	turn *queueTurn
	log  *slog.Logger
}

func cloneCells(cells []matrix.Cell) []matrix.Cell {
	out := make([]matrix.Cell, len(cells))
	for i, c := range cells {
		c.Started, c.Ended = c.Started.DeepCopy(), c.Ended.DeepCopy()
		out[i] = c
	}
	return out
}
