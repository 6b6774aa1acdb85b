package controller

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store has the reservations and hand-overs.
type Store interface {
	List(ctx context.Context) ([]*store.Reservation, error)
	EnsureHandOver(ctx context.Context, spec store.HandOverSpec) (*store.HandOver, error)
	SaveHandOver(ctx context.Context, h *store.HandOver) (*store.HandOver, error)
	ListHandOvers(ctx context.Context, since time.Time) ([]*store.HandOver, error)
	ListManualHandOvers(ctx context.Context) ([]*store.HandOver, error)
	DeleteHandOver(ctx context.Context, name string) error
	PruneHistory(ctx context.Context, oldest time.Time, most int) error
}

// LeaseBroker expires leases and notifies holders.
type LeaseBroker interface {
	ExpireOverdue(ctx context.Context, names ...string) error
	Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error
	// CheckClock returns an error while the clock of this machine is wrong.
	CheckClock() error
}

// RotationRunner is implemented by Rotation.
type RotationRunner interface {
	Up(ctx context.Context, row config.Reservation, day DayTimes) (Outcome, error)
	Down(ctx context.Context, row config.Reservation, by string, drained time.Time, byHand bool) (Outcome, error)
	Clean(ctx context.Context, row config.Reservation, by string, byHand bool) (Outcome, error)
}

// BatchRunner runs the nightly batch.
type BatchRunner interface {
	// Plan returns the cells of a reservation and the cells held back; both may be empty.
	Plan(ctx context.Context, row config.Reservation) (matrix.Lane, error)
	// Cutoff returns the latest start of a cell in a window.
	Cutoff(until time.Time) time.Time
	// Run runs a leg and returns its cells. Its error is a failure that ends the leg.
	Run(ctx context.Context, l Leg) ([]matrix.Cell, error)
}

// Options of a Controller.
type Options struct {
	Registry *config.Registry
	// Unregistered are reservations in use whose rows have left the registry. A down fails while one has a
	// deployment, which nothing would remove.
	Unregistered []string
	Schedule     *calendar.Schedule
	Store        Store
	Broker       LeaseBroker
	Rotation     RotationRunner
	// Batch may be nil: then its hand-overs fail.
	Batch BatchRunner
	// Clock defaults to the system clock.
	Clock clock.Clock
	Log   *slog.Logger
	// Notice is how long a holder keeps the deployment after the end of the day (default 30
	// minutes).
	Notice time.Duration
	// WarnBefore is the time before the end of a lease at which its holder is notified (default 30
	// minutes).
	WarnBefore time.Duration
	// RetryInterval is the first backoff; it doubles up to MaxRetryInterval (defaults 1 and 15
	// minutes, on the clock).
	RetryInterval, MaxRetryInterval time.Duration
	// SweepInterval is the interval of the sweep (default 1 s, in real time).
	SweepInterval time.Duration
	// Retention of hand-overs and of archived events of reservations (default 400 days).
	Retention time.Duration
	// HistoryLimit is the number of archived events kept for each reservation (default 40000).
	HistoryLimit int
}

// Defaults of Options.
const (
	DefaultRetention    = 400 * 24 * time.Hour
	DefaultHistoryLimit = 40_000
)

// Controller executes the schedule.
type Controller struct {
	opts Options
	idle *clock.IdleTracker

	mu      sync.Mutex
	known   map[string]time.Time  // existing hand-overs and their due time
	started map[string]*runRecord // started by this controller
	newest  map[string]time.Time  // due time of the newest batch by reservation
	clean   map[string]nextClean  // by reservation
	workers sync.WaitGroup
	locks   reservationLocks
}

// New returns a controller.
func New(opts Options) *Controller {
	opts.Clock = cmp.Or(opts.Clock, clock.Machine())
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.Notice = cmp.Or(opts.Notice, 30*time.Minute)
	opts.WarnBefore = cmp.Or(opts.WarnBefore, 30*time.Minute)
	opts.RetryInterval = cmp.Or(opts.RetryInterval, time.Minute)
	opts.MaxRetryInterval = cmp.Or(opts.MaxRetryInterval, 15*time.Minute)
	opts.SweepInterval = cmp.Or(opts.SweepInterval, time.Second)
	opts.Retention = cmp.Or(opts.Retention, DefaultRetention)
	opts.HistoryLimit = cmp.Or(opts.HistoryLimit, DefaultHistoryLimit)
	return &Controller{
		opts: opts, idle: clock.NewIdleTracker(opts.Clock),
		known: map[string]time.Time{}, started: map[string]*runRecord{}, newest: map[string]time.Time{}, clean: map[string]nextClean{},
	}
}

// nextClean is the time of the next cleaning of a reservation that is dirty since a time.
type nextClean struct{ since, at time.Time }

// backoff returns the pause after a number of attempts.
func (c *Controller) backoff(attempts int) time.Duration {
	d := c.opts.RetryInterval
	for range attempts - 1 {
		if d *= 2; d >= c.opts.MaxRetryInterval {
			return c.opts.MaxRetryInterval
		}
	}
	return min(d, c.opts.MaxRetryInterval)
}

// HolderName is the holder of the controller's leases.
const HolderName = "firstlight/controller"

// needsManualCleaning reports whether a reservation waits for an operator.
func needsManualCleaning(s *store.Status) bool {
	return s.CurrentState() == lease.Dirty && s.DirtyInfo != nil && s.DirtyInfo.ManualOnly
}
