package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/agenda"
	"github.com/firstlight/firstlight/internal/reservation/batch"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
	"github.com/firstlight/firstlight/internal/reservation/rotation"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is where reservations and hand-overs are kept.
type Store interface {
	List(ctx context.Context) ([]*store.Reservation, error)
	OpenHandOver(ctx context.Context, spec store.HandOverSpec) (*store.HandOver, error)
	SaveHandOver(ctx context.Context, h *store.HandOver) (*store.HandOver, error)
	HandOvers(ctx context.Context, since time.Time) ([]*store.HandOver, error)
	HandOversByHand(ctx context.Context) ([]*store.HandOver, error)
	DeleteHandOver(ctx context.Context, name string) error
}

// Broker ends what is over and gives notice.
type Broker interface {
	Tick(ctx context.Context, names ...string) error
	Notify(ctx context.Context, name string, token int64, by, why string, at time.Time) error
}

// Rotation stands up, takes down and cleans. A rotation.Rotation is one.
type Rotation interface {
	Up(ctx context.Context, row registry.Reservation, ends, last time.Time) (rotation.Outcome, error)
	Down(ctx context.Context, row registry.Reservation, by string, drained time.Time, byHand bool) (rotation.Outcome, error)
	Clean(ctx context.Context, row registry.Reservation, by string, byHand bool) (rotation.Outcome, error)
}

// Batch is the nightly work.
type Batch interface {
	// Plan says what the night runs at a reservation, and what it holds back; no cells are an
	// answer, too.
	Plan(ctx context.Context, row registry.Reservation) (matrix.Lane, error)
	// Cutoff is until when a cell may begin in a window that ends then.
	Cutoff(until time.Time) time.Time
	// Run does a leg, and answers its cells as they are then. Its error is of what kept it
	// from going on.
	Run(ctx context.Context, l batch.Leg) ([]matrix.Cell, error)
}

// Options of a Controller.
type Options struct {
	Registry *registry.Registry
	Schedule *calendar.Schedule
	Store    Store
	Broker   Broker
	Rotation Rotation
	// Batch is nil where there is none: its hand-overs fail then.
	Batch Batch
	// Clock is nil for the machine's.
	Clock clock.Clock
	Log   *slog.Logger
	// Notice is how long a holder keeps what is taken down in the evening (30 minutes).
	Notice time.Duration
	// Warn is how long before the end of a lease its holder is told (30 minutes).
	Warn time.Duration
	// Retry is the first pause before something is tried again; it doubles up to RetryMost
	// (1 and 15 minutes, of the calendar's time).
	Retry, RetryMost time.Duration
	// Every is how often what is over is looked for (1 second, whatever the calendar does).
	Every time.Duration
	// Keep is how long hand-overs are kept (400 days).
	Keep time.Duration
}

// Controller does hand-overs.
type Controller struct {
	opts   Options
	agenda *agenda.Agenda

	mu     sync.Mutex
	known  map[string]time.Time // hand-overs that there are, and when they were due
	begun  map[string]*ledger   // those that were begun here
	newest map[string]time.Time // when the newest batch of a reservation was due
	clean  map[string]time.Time // when something dirty is cleaned again
	works  sync.WaitGroup
	turns  turns
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
		&opts.Notice: 30 * time.Minute, &opts.Warn: 30 * time.Minute, &opts.Retry: time.Minute, &opts.RetryMost: 15 * time.Minute,
		&opts.Every: time.Second, &opts.Keep: 400 * 24 * time.Hour,
	} {
		if *of == 0 {
			*of = usual
		}
	}
	return &Controller{
		opts: opts, agenda: agenda.New(opts.Clock),
		known: map[string]time.Time{}, begun: map[string]*ledger{}, newest: map[string]time.Time{}, clean: map[string]time.Time{},
	}
}

// pause after so many attempts.
func (c *Controller) pause(attempts int) time.Duration {
	d := c.opts.Retry
	for range attempts - 1 {
		if d *= 2; d >= c.opts.RetryMost {
			return c.opts.RetryMost
		}
	}
	return min(d, c.opts.RetryMost)
}

// Name is in whose name the controller asks and cleans.
const Name = "firstlight/controller"

// dirtyByHand tells that a reservation waits for somebody.
func dirtyByHand(s *store.Status) bool {
	return s.Now() == lease.Dirty && s.Dirt != nil && s.Dirt.ByHand
}
