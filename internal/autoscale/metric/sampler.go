package metric

import (
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

// Config says what is read.
type Config struct {
	Cluster *kube.Cluster
	// Prometheus may be nil; then Unreachable says why.
	Prometheus  *prom.Prometheus
	Unreachable error
	Metric      snapshot.Metric
	// Namespace of the run's pods.
	Namespace string
	// GPUs of each node of the site.
	GPUs map[string]int
	// Stack is the namespace of the GPU stack, with its exporters.
	Stack string
	// Scrape and Window are Prometheus' scrape interval and the rule's range; Fresh
	// is how old a sample may be. One of before Start, and of the scrape after it, is
	// never fresh.
	Scrape, Window, Fresh time.Duration
	// Every is how often each place is asked.
	Every time.Duration
	Clock clock.WithTicker
}

// Every is how often to look at a metric that is scraped so often: twice a
// scrape, so that a reading is seldom much older than what it tells of.
func Every(scrape, window time.Duration) time.Duration {
	return min(max(min(scrape/2, window/5), 250*time.Millisecond), 5*time.Second)
}

// Sampler reads in the background.
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
	load     map[string]bool // the pods whose GPUs are read in the exporters; nil: none
	problems map[string]string
	prom     []snapshot.Reading
	atAPI    []snapshot.Reading
	exporter []snapshot.Reading
	made     []snapshot.Sample
	coverage []snapshot.Coverage
	listed   []string
	version  string
}

// New makes a sampler that Start starts.
func New(c Config) *Sampler {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	return &Sampler{
		c: c, api: newAPI(c.Cluster, c.Metric, c.Namespace), forwards: newForwards(c.Cluster), changed: make(chan struct{}, 1),
		hosts: hosts{nodes: slices.Sorted(maps.Keys(c.GPUs))}, problems: map[string]string{},
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

// Stop ends all reading and waits for it.
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

// Changed has something whenever there is something new; it is for one waiter.
func (s *Sampler) Changed() <-chan struct{} { return s.changed }

// Fill puts what is known into a state.
func (s *Sampler) Fill(st *snapshot.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Prometheus, st.API, st.Exporter = slices.Clone(s.prom), slices.Clone(s.atAPI), slices.Clone(s.exporter)
	st.Made, st.Coverage, st.Listed = slices.Clone(s.made), slices.Clone(s.coverage), slices.Clone(s.listed)
	if st.Problems == nil {
		st.Problems = map[string]string{}
	}
	maps.Copy(st.Problems, s.problems)
}

// keep changes what is known. A look that ended because reading ends tells nothing.
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
	}
	change(s.c.Clock.Now())
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// reading makes one of a value or of the reason why there is none.
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
