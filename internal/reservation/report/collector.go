package report

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// CollectorStore is read at each collection. store.Kube and store.Cached implement it.
type CollectorStore interface {
	List(ctx context.Context) ([]*store.Reservation, error)
	EachHistory(ctx context.Context, each func(reservation string, piece []lease.Event)) error
	ListHandOvers(ctx context.Context, since time.Time) ([]*store.HandOver, error)
}

// CollectorOptions configure a collector.
type CollectorOptions struct {
	Store CollectorStore
	// Now defaults to the system clock.
	Now func() time.Time
	// Timeout bounds a collection (default 10 s, the default timeout of Prometheus).
	Timeout time.Duration
}

type collector struct {
	opts CollectorOptions
	// mu guards history: collections may be concurrent.
	mu      sync.Mutex
	history historyCounts
}

// NewCollector returns a collector. If the store cannot be read, it reports an error and a gauge:
// serve it with promhttp.ContinueOnError, which returns both.
func NewCollector(opts CollectorOptions) prometheus.Collector {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Timeout = cmp.Or(opts.Timeout, 10*time.Second)
	return &collector{opts: opts, history: historyCounts{}}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d
	}
}

// Collect reads the store.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Timeout) //nolint:forbidigo // a collector is given no context
	defer cancel()
	all, err := c.collect(ctx)
	if err != nil {
		ch <- prometheus.MustNewConstMetric(storeUp, prometheus.GaugeValue, 0)
		ch <- prometheus.NewInvalidMetric(storeUp, fmt.Errorf("collect reservation metrics: %w", err))
		return
	}
	ch <- prometheus.MustNewConstMetric(storeUp, prometheus.GaugeValue, 1)
	for _, m := range all {
		ch <- m
	}
}

func (c *collector) collect(ctx context.Context) ([]prometheus.Metric, error) {
	list, err := c.opts.Store.List(ctx) // before the history: see count
	if err != nil {
		return nil, err
	}
	handOvers, err := c.opts.Store.ListHandOvers(ctx, time.Time{})
	if err != nil {
		return nil, err
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
