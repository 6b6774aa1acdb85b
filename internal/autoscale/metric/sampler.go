package metric

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Config of a Sampler.
type Config struct {
	Cluster *kube.Cluster
	// Prometheus may be nil for the reason Unreachable.
	Prometheus  *prom.Prometheus
	Unreachable error
	Metric      snapshot.Metric
	// Namespace of the run's pods.
	Namespace string
	// GPUs of each node of the site.
	GPUs map[string]int
	// Stack is the namespace of the GPU stack with its exporters.
	Stack string
	// Scrape interval of Prometheus, Window of the rule, and Fresh, the maximum age of a
	// sample. Samples from before Start and its first scrape are never fresh.
	Scrape, Window, Fresh time.Duration
	// Every is the read interval of each stage.
	Every time.Duration
	Clock clock.WithTicker
}

// Every returns the read interval for a scrape interval and a window: two reads per
// scrape, between 250 ms and 5 s.
func Every(scrape, window time.Duration) time.Duration {
	return min(max(min(scrape/2, window/5), 250*time.Millisecond), 5*time.Second)
}

// Sampler reads the metric in the background.
type Sampler struct {
	c        Config
	api      api
	forwards *forwards
	changed  chan struct{}
	cancel   context.CancelFunc
	running  sync.WaitGroup
	began    time.Time

	mu       sync.Mutex
	hosts    hosts
	pods     []exporterPod
	load     map[string]bool // pods whose GPUs are read in the exporters
	problems map[string]string
	answered map[string]bool // sources that were read at least once
	prom     []snapshot.Reading
	atAPI    []snapshot.Reading
	exporter []snapshot.Reading
	made     []snapshot.Sample
	coverage []snapshot.Coverage
	listed   []string
	version  string
}

// New returns a sampler; Start starts it.
func New(c Config) *Sampler {
	c.Clock = cmp.Or[clock.WithTicker](c.Clock, clock.RealClock{})
	return &Sampler{
		c: c, api: newAPI(c.Cluster, c.Metric, c.Namespace), forwards: newForwards(c.Cluster), changed: make(chan struct{}, 1),
		hosts: hosts{nodes: slices.Sorted(maps.Keys(c.GPUs))}, problems: map[string]string{}, answered: map[string]bool{},
	}
}

// Start reads until Stop, or ctx ends.
func (s *Sampler) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.began = s.c.Clock.Now()
	slow := max(4*s.c.Every, time.Second)
	for _, loop := range []struct {
		every time.Duration
		look  func(context.Context)
	}{
		{s.c.Every, s.readPrometheus}, {slow, s.readCoverage},
		{s.c.Every, s.readAPI}, {slow, s.readListed},
		{s.c.Every, s.readExporters},
	} {
		s.running.Go(func() { s.loop(ctx, loop.every, loop.look) })
	}
}

// Stop stops all reads and waits for them.
func (s *Sampler) Stop() {
	if s.cancel != nil {
		s.cancel()
	}
	s.running.Wait()
	s.forwards.close()
}

func (s *Sampler) loop(ctx context.Context, every time.Duration, look func(context.Context)) {
	tick := s.c.Clock.NewTicker(every)
	defer tick.Stop()
	for {
		limited, cancel := context.WithTimeout(ctx, lookWithin)
		look(limited)
		cancel()
		select {
		case <-ctx.Done():
			return
		case <-tick.C():
		}
	}
}

// Changed receives after every read; it has one reader.
func (s *Sampler) Changed() <-chan struct{} { return s.changed }

// Fill copies the readings into a state.
func (s *Sampler) Fill(st *snapshot.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Prometheus, st.API, st.Exporter = slices.Clone(s.prom), slices.Clone(s.atAPI), slices.Clone(s.exporter)
	st.Made, st.Coverage, st.Listed = slices.Clone(s.made), slices.Clone(s.coverage), slices.Clone(s.listed)
	if st.Problems == nil {
		st.Problems = map[string]string{}
	}
	maps.Copy(st.Problems, s.problems)
	st.Sources = append(st.Sources, slices.Sorted(maps.Keys(s.answered))...)
}

// keep records a read. A read that was cancelled by Stop is ignored.
func (s *Sampler) keep(ctx context.Context, problem string, err error, change func(now time.Time)) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	s.mu.Lock()
	switch {
	case err != nil && !errors.Is(err, errNoValue):
		s.problems[problem] = err.Error()
	default:
		delete(s.problems, problem)
		s.answered[problem] = true
	}
	change(s.c.Clock.Now())
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// reading returns a Reading of a value or an error.
func reading(now time.Time, v float64, err error) snapshot.Reading {
	if err != nil {
		return snapshot.Reading{At: now, Err: err.Error()}
	}
	return snapshot.Reading{At: now, Value: v}
}

// maxReadings bounds the readings kept of one source.
const maxReadings = 2000

// add appends a reading and drops the older half of a full list.
func add(list []snapshot.Reading, r snapshot.Reading) []snapshot.Reading {
	if len(list) >= maxReadings {
		list = append(list[:0:0], list[len(list)-maxReadings/2:]...)
	}
	return append(list, r)
}
