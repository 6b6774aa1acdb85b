package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is where reservations and hand-overs are kept.
type Store interface {
	List(ctx context.Context) ([]*store.Reservation, error)
	EnsureHandOver(ctx context.Context, spec store.HandOverSpec) (*store.HandOver, error)
	SaveHandOver(ctx context.Context, h *store.HandOver) (*store.HandOver, error)
	ListHandOvers(ctx context.Context, since time.Time) ([]*store.HandOver, error)
	ListManualHandOvers(ctx context.Context) ([]*store.HandOver, error)
	DeleteHandOver(ctx context.Context, name string) error
}

// Broker ends what is over and gives notice.
type LeaseBroker interface {
	ExpireOverdue(ctx context.Context, names ...string) error
	Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error
}

// Rotation stands up, takes down and cleans. A rotation.Rotation is one.
type RotationRunner interface {
	Up(ctx context.Context, row config.Reservation, ends, last time.Time) (Outcome, error)
	Down(ctx context.Context, row config.Reservation, by string, drained time.Time, byHand bool) (Outcome, error)
	Clean(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error)
}

// Batch is the nightly work.
type BatchRunner interface {
	// Plan says what the night runs at a reservation, and what it holds back; no cells are an
	// answer, too.
	Plan(ctx context.Context, row config.Reservation) (matrix.Lane, error)
	// Cutoff is until when a cell may begin in a window that ends then.
	Cutoff(until time.Time) time.Time
	// Run does a leg, and answers its cells as they are then. Its error is of what kept it
	// from going on.
	Run(ctx context.Context, l Leg) ([]matrix.Cell, error)
}

// Options of a Controller.
type Options struct {
	Registry *config.Registry
	Schedule *calendar.Schedule
	Store    Store
	Broker   LeaseBroker
	Rotation RotationRunner
	// Batch is nil where there is none: its hand-overs fail then.
	Batch BatchRunner
	// Clock is nil for the machine's.
	Clock clock.Clock
	Log   *slog.Logger
	// Notice is how long a holder keeps what is taken down in the evening (30 minutes).
	Notice time.Duration
	// Warn is how long before the end of a lease its holder is told (30 minutes).
	WarnBefore time.Duration
	// Retry is the first pause before something is tried again; it doubles up to RetryMost
	// (1 and 15 minutes, of the calendar's time).
	RetryInterval, MaxRetryInterval time.Duration
	// Every is how often what is over is looked for (1 second, whatever the calendar does).
	SweepInterval time.Duration
	// Keep is how long hand-overs are kept (400 days).
	Retention time.Duration
}

// Controller does hand-overs.
type Controller struct {
	opts   Options
	idle *clock.IdleTracker

	mu     sync.Mutex
	known  map[string]time.Time // hand-overs that there are, and when they were due
	started  map[string]*runRecord   // those that were begun here
	newest map[string]time.Time // when the newest batch of a reservation was due
	clean  map[string]time.Time // when something dirty is cleaned again
	workers  sync.WaitGroup
	locks  reservationLocks
}

// New makes one.
func New(opts Options) *Controller {
	if opts.Clock == nil {
		opts.Clock = clock.Machine()
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	for of, usual := range map[*time.Duration]time.Duration{
		&opts.Notice: 30 * time.Minute, &opts.WarnBefore: 30 * time.Minute, &opts.RetryInterval: time.Minute, &opts.MaxRetryInterval: 15 * time.Minute,
		&opts.SweepInterval: time.Second, &opts.Retention: 400 * 24 * time.Hour,
	} {
		if *of == 0 {
			*of = usual
		}
	}
	return &Controller{
		opts: opts, idle: clock.NewIdleTracker(opts.Clock),
		known: map[string]time.Time{}, started: map[string]*runRecord{}, newest: map[string]time.Time{}, clean: map[string]time.Time{},
	}
}

// pause after so many attempts.
func (c *Controller) backoff(attempts int) time.Duration {
	d := c.opts.RetryInterval
	for range attempts - 1 {
		if d *= 2; d >= c.opts.MaxRetryInterval {
			return c.opts.MaxRetryInterval
		}
	}
	return min(d, c.opts.MaxRetryInterval)
}

// Name is in whose name the controller asks and cleans.
const HolderName = "firstlight/controller"

// dirtyByHand tells that a reservation waits for somebody.
func needsManualCleaning(s *store.Status) bool {
	return s.CurrentState() == lease.Dirty && s.DirtyInfo != nil && s.DirtyInfo.ManualOnly
}
