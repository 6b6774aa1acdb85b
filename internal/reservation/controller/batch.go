package controller

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// BatchHooks is implemented by hook.Client.
type BatchHooks interface {
	Owner() string
	Discover(ctx context.Context, cloud config.Cloud, row *config.Reservation, l hook.Lease) ([]hook.Deployment, error)
	Provision(ctx context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error)
	Test(ctx context.Context, row config.Reservation, version string, intent config.Intent, name string, l hook.Lease) (hook.Result, error)
}

// BatchStore reads reservations uncached.
type BatchStore interface {
	GetUncached(ctx context.Context, name string) (*store.Reservation, error)
}

// BatchOptions configure a Batch.
type BatchOptions struct {
	Broker *broker.Broker
	Store  BatchStore
	Hooks  BatchHooks
	// Ready waits until a deployment is ready.
	Ready func(ctx context.Context, row config.Reservation, name string, l hook.Lease) error
	// CanProvision returns why no deployment of a row can get ready; nil: not checked.
	CanProvision func(row config.Reservation) error
	// Clean removes leftover deployments; see Rotation.Clean.
	Clean func(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error)
	// Clock defaults to the system clock.
	Clock clock.Clock
	// RenewInterval of the leases (default 1 minute).
	RenewInterval time.Duration
	// RetryInterval is the pause after a cloud could not be listed, on the clock (default 1
	// minute).
	RetryInterval time.Duration
	// PollInterval is how often a waiting leg checks for a newer batch (default 1 s).
	PollInterval time.Duration
	// Log defaults to none.
	Log *slog.Logger
}

// Batch runs legs, each cell under its own lease. Its methods are safe for concurrent use.
//
// The guard checks, under the lease, that no deployment exists before one is created. A leftover
// deployment ends the lease and needs an operator; if the cloud cannot be listed, the leg treats
// that as a leftover. The leg waits in the queue meanwhile and continues with the same cell.
//
// A cell is recorded before each step, so that the next controller can resume it after a crash.
// Its deployment is removed under a cleaning lease before the next cell gets the reservation: no
// two cells ever have deployments at once. No cell starts after the cutoff.
type Batch struct{ opts BatchOptions }

// NewBatch returns a batch.
func NewBatch(opts BatchOptions) *Batch {
	opts.Clock = cmp.Or(opts.Clock, clock.Machine())
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.RenewInterval = cmp.Or(opts.RenewInterval, time.Minute)
	opts.RetryInterval = cmp.Or(opts.RetryInterval, time.Minute)
	opts.PollInterval = cmp.Or(opts.PollInterval, time.Second)
	return &Batch{opts: opts}
}

// Holder of the leases of the cells.
func (b *Batch) Holder() string { return b.opts.Hooks.Owner() + "/nightly" }

// Leg is the work of a night at one reservation.
type Leg struct {
	Row config.Reservation
	// Cells as recorded; those that have ended are skipped.
	Cells []matrix.Cell
	// Cutoff is the latest start of a cell; Until is the end of the window, after which the sweep
	// continues the cleaning.
	Cutoff, Until time.Time
	// Limit is the longest duration of a cell before its teardown; 0: the window.
	Limit time.Duration
	// Record stores the cells before each step. Its error ends the leg.
	Record func(ctx context.Context, cells []matrix.Cell) error
	// Newer reports whether a newer batch of the reservation has started; nil: never.
	Newer func() bool
	// Waiting, if set, is called when the leg waits, at most until then; done when it continues.
	Waiting func(until time.Time) (done func())
}

// Run runs a leg and returns its cells. Each has ended, unless there is an error: the cause of
// ctx's end, with the cells as last recorded, or a failure that ends the leg.
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

// legRun is a running leg.
type legRun struct {
	*Batch
	Leg
	cells, recorded []matrix.Cell
	// waitReason says why the leg waits; empty if it does not.
	waitReason string
	// turn is its place in the queue, if any.
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
