package track

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Options of a Tracker.
type Options struct {
	Cluster *kube.Cluster
	Run     string
	// Namespace of the run's pods.
	Namespace string
	// Pools are the NodePools of the run by name, its own first; Karpenter reports whether
	// nodes come from NodePools.
	Pools     []string
	Karpenter bool
	// Group are the labels of the node group's nodes, GroupName its name.
	Group     map[string]string
	GroupName string
	// API is the group of the metrics API: external.metrics.k8s.io.
	API      string
	Programs []Program
	// Queues reports whether KAI schedules the run's pods.
	Queues bool
	// Clock defaults to the real clock.
	Clock clock.PassiveClock
}

// Program is a Deployment that the chain needs.
type Program struct {
	Role, Namespace, Name string
}

// Tracker tracks one run.
type Tracker struct {
	o       Options
	changed chan struct{}
	running sync.WaitGroup
	cancel  context.CancelFunc

	mu       sync.Mutex
	problems map[string]string
	// unlisted has whether each followed source still waits for its first list, by problem.
	unlisted map[string]bool
	began    time.Time
	settled  bool // objects first observed from now on were created during the run

	pods   *book[snapshot.Pod]
	nodes  *book[snapshot.Node]
	claims *book[snapshot.Claim]
	pools  *book[snapshot.Pool]
	hpas   *book[snapshot.HPA]

	before      map[types.UID]snapshot.Ref
	beforePools map[string]string
	missing     map[types.UID]snapshot.Ref
	oldClaims   map[types.UID]bool
	holders     map[types.UID]*nodeHolders
	desired     []snapshot.Desired
	events      *eventBook
	apis        map[string]snapshot.APIService
	programs    map[Program]*snapshot.Program
	queues      map[string]snapshot.Ref
}

// New returns a tracker; Start starts it.
func New(o Options) *Tracker {
	o.Clock = cmp.Or[clock.PassiveClock](o.Clock, clock.RealClock{})
	t := &Tracker{
		o: o, changed: make(chan struct{}, 1), problems: map[string]string{}, unlisted: map[string]bool{},
		pods:   newBook(func(p *snapshot.Pod) *snapshot.Life { return &p.Life }, func(p *snapshot.Pod) snapshot.Ref { return p.Ref }),
		nodes:  newBook(func(n *snapshot.Node) *snapshot.Life { return &n.Life }, func(n *snapshot.Node) snapshot.Ref { return n.Ref }),
		claims: newBook(func(c *snapshot.Claim) *snapshot.Life { return &c.Life }, func(c *snapshot.Claim) snapshot.Ref { return c.Ref }),
		pools:  newBook(func(p *snapshot.Pool) *snapshot.Life { return &p.Life }, func(p *snapshot.Pool) snapshot.Ref { return p.Ref }),
		hpas:   newBook(func(h *snapshot.HPA) *snapshot.Life { return &h.Life }, func(h *snapshot.HPA) snapshot.Ref { return h.Ref }),
		before: map[types.UID]snapshot.Ref{}, beforePools: map[string]string{}, missing: map[types.UID]snapshot.Ref{},
		oldClaims: map[types.UID]bool{}, holders: map[types.UID]*nodeHolders{}, events: newEventBook(),
		apis: map[string]snapshot.APIService{}, programs: map[Program]*snapshot.Program{}, queues: map[string]snapshot.Ref{},
	}
	t.nodes.others = func(n *snapshot.Node) bool { return !n.Ours }
	t.claims.others = func(c *snapshot.Claim) bool { return !c.Ours }
	return t
}

// listWithin bounds the initial lists.
const listWithin = time.Minute

// Start starts the watches and returns once every source was listed, so that initial
// objects are known. State.Sources lacks a source that is not listed in time; for nodes that
// is an error. Stop ends it.
func (t *Tracker) Start(ctx context.Context) error {
	// Watches outlive the start deadline; Stop and ctx end them.
	life, cancelLife := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	t.cancel, t.began = cancelLife, t.o.Clock.Now()
	var nodes *store
	var stores []*store
	t.change(func(time.Time) {
		nodes = t.follow(life, t.nodeSource(life))
		for _, s := range t.sources() {
			stores = append(stores, t.follow(life, s))
		}
	})
	limited, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	select {
	case <-nodes.listed:
	case <-limited.Done():
		return fmt.Errorf("list nodes: %w", t.whyNot(limited, snapshot.ProblemNodes))
	}
	for _, s := range stores {
		if err := t.listed(limited, s); err != nil {
			return err
		}
	}
	t.change(func(time.Time) { t.settled = true })
	return nil
}

// listed waits for a source's first list or its error.
func (t *Tracker) listed(ctx context.Context, s *store) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.listed:
			return nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				return nil // State.Sources lacks it
			}
			return fmt.Errorf("list %s: %w", s.source.problem, ctx.Err())
		case <-tick.C:
			if t.problem(s.source.problem) != "" {
				return nil
			}
		}
	}
}

func (t *Tracker) problem(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.problems[name]
}

func (t *Tracker) whyNot(ctx context.Context, name string) error {
	if why := t.problem(name); why != "" {
		return fmt.Errorf("%s: %w", why, ctx.Err())
	}
	return ctx.Err()
}

// Stop stops every watch and waits for it.
func (t *Tracker) Stop() {
	if t.cancel != nil {
		t.cancel()
	}
	t.running.Wait()
}

// Changed receives after every change; it has one reader.
func (t *Tracker) Changed() <-chan struct{} { return t.changed }

// change updates the state and signals Changed.
func (t *Tracker) change(alter func(now time.Time)) {
	t.mu.Lock()
	alter(t.o.Clock.Now())
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// follow watches a source until ctx ends. The caller holds mu.
func (t *Tracker) follow(ctx context.Context, s source) *store {
	t.unlisted[s.problem] = true
	st := &store{t: t, source: s, live: map[types.UID]metav1.Object{}, listed: make(chan struct{})}
	r := cache.NewReflectorWithOptions(st, s.like, st, cache.ReflectorOptions{Name: "firstlight-" + s.problem, Backoff: backoff()})
	t.running.Go(func() { r.RunWithContext(ctx) })
	return st
}
