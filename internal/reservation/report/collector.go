package report

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// Store is read at each collection. A store.Kube, or a copy of one, is one.
type CollectorStore interface {
	List(ctx context.Context) ([]*store.Reservation, error)
	EachHistory(ctx context.Context, each func(reservation string, piece []lease.Event)) error
	ListHandOvers(ctx context.Context, since time.Time) ([]*store.HandOver, error)
}

// Options of a collector.
type CollectorOptions struct {
	Store CollectorStore
	// Now is the time of day; nil: the machine's.
	Now func() time.Time
	// Within bounds a collection (10 s): Prometheus waits no longer by default.
	Timeout time.Duration
}

// collector reads the store.
type collector struct {
	opts CollectorOptions
	// mu guards history, which two collections may need at once.
	mu      sync.Mutex
	history historyCounts
}

// New makes a collector. Its error, when the store can't be read, comes beside a gauge that
// says so: serve it with promhttp.ContinueOnError, which tells both.
func NewCollector(opts CollectorOptions) prometheus.Collector {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Timeout == 0 {
		opts.Timeout = 10 * time.Second
	}
	return &collector{opts: opts, history: historyCounts{}}
}

// Describe tells every metric there may be.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d
	}
}

// Collect reads the store and tells all of it, or that it can't be read.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Timeout) //nolint:forbidigo // a collector is given no context
	defer cancel()
	all, err := c.collect(ctx)
	if err != nil {
		ch <- prometheus.MustNewConstMetric(storeUp, prometheus.GaugeValue, 0)
		ch <- prometheus.NewInvalidMetric(storeUp, fmt.Errorf("collect metrics of reservations: %w", err))
		return
	}
	ch <- prometheus.MustNewConstMetric(storeUp, prometheus.GaugeValue, 1)
	for _, m := range all {
		ch <- m
	}
}

func (c *collector) collect(ctx context.Context) ([]prometheus.Metric, error) {
	list, err := c.opts.Store.List(ctx) // before the pieces: see count
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	handOvers, err := c.opts.Store.ListHandOvers(ctx, time.Time{})
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.history.count(ctx, c.opts.Store, list); err != nil {
		return nil, err
	}
	now := c.opts.Now()
	s := &sink{}
	for _, r := range list {
		s.reservation(r, now)
		s.transitions(r.Name, c.history[r.Name])
	}
	s.handOvers(handOvers, now)
	return s.metrics, s.err
}
