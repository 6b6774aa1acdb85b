package safety

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// asWorker in the environment makes a process of these tests a worker; it names the
// file of its assignment.
const asWorker = "FIRSTLIGHT_SAFETY_WORKER"

// assignment is the task of a worker.
type assignment struct {
	ID      int
	Seed    uint64
	Actors  int
	Copied  bool // its broker has a copy of the store
	Phase   int
	Phases  [][]string // reservations that are worked on together
	Journal string
	Defect  defect
	Host    string
	Token   string
	TLS     rest.TLSClientConfig
}

// noClean tells by its name which reservation needs no cleaning.
func noClean(name string) bool { return strings.HasSuffix(name, "-free") }

// worker is a process with a broker of its own.
type worker struct {
	assignment
	broker  handler
	kept    broker.Store
	journal *journal
	often   time.Duration // interval of its polls
	phase   atomic.Int64
	next    atomic.Int64

	mu  sync.Mutex
	bag []shownOnce
	up  []string // where a deployment was published
}

// handler is a broker, or one that is broken.
type handler interface {
	Acquire(ctx context.Context, req broker.Request) ([]broker.Grant, error)
	Renew(ctx context.Context, name string, token int64) (lease.Lease, error)
	Check(ctx context.Context, name string, token int64) error
	Release(ctx context.Context, name string, token int64, reason string) error
	Evict(ctx context.Context, name string, token int64, by, reason string) error
	QuarantineFree(ctx context.Context, name, by, reason string) error
	Clean(ctx context.Context, name string, cleaner lease.Ticket) (broker.Grant, error)
	RenewClean(ctx context.Context, name string, token int64) (lease.Lease, error)
	FinishClean(ctx context.Context, name string, token int64, reason string) error
	FailClean(ctx context.Context, name string, token int64, reason string) error
	Publish(ctx context.Context, name string, token int64, ends, last time.Time, reason string) (lease.Lease, error)
	Checkout(ctx context.Context, name string, t lease.Ticket) (lease.Lease, error)
	Checkin(ctx context.Context, name string, token int64, reason string) error
	Quarantine(ctx context.Context, name string, token int64, reason string) error
	Extend(ctx context.Context, name string, token int64, by time.Duration, reason string) (lease.Lease, error)
	Notify(ctx context.Context, name string, token int64, by, reason string, at time.Time) error
	ExpireOverdue(ctx context.Context, names ...string) error
}

// shownOnce is a token that was good once, and will be shown again.
type shownOnce struct {
	on    string
	token int64
}

// work is the life of a worker: until its standard input ends.
func work(ctx context.Context, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	w := &worker{}
	if err := json.Unmarshal(raw, &w.assignment); err != nil {
		return err
	}
	file, err := os.OpenFile(w.Journal, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	w.journal = &journal{file: file}
	w.phase.Store(int64(w.Phase))
	kube, err := store.NewKube(&rest.Config{Host: w.Host, BearerToken: w.Token, TLSClientConfig: w.TLS})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	kept := broker.Store(kube)
	w.often = 200 * time.Millisecond // each read goes to the API server
	if w.Copied {
		w.often = 25 * time.Millisecond
		c := store.NewCached(kube)
		ended, err := c.Run(ctx)
		if err != nil {
			return err
		}
		defer func() { cancel(); <-ended }()
		kept = c
	}
	w.kept = kept
	w.broker = w.Defect.handler(kept, w.Seed, fmt.Sprintf("p%d", w.ID), w.often)
	var all sync.WaitGroup
	working, stop := context.WithCancel(ctx)
	for i := range w.Actors {
		a := &actor{worker: w, id: i, rng: rand.New(rand.NewPCG(w.Seed, uint64(i)))}
		all.Go(func() { a.act(working) })
	}
	all.Go(func() { w.tick(working) })
	err = w.obey()
	stop()
	all.Wait()
	return err
}

// obey reads the number of each phase as it begins.
func (w *worker) obey() error {
	in := bufio.NewReader(os.Stdin)
	for {
		var n int64
		_, err := fmt.Fscanln(in, &n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		w.phase.Store(n)
	}
}

func (w *worker) tick(ctx context.Context) {
	for pause(ctx, w.often) {
		_ = w.broker.ExpireOverdue(ctx, w.active()...) // the store may be away: the next tick
	}
}

func (w *worker) active() []string { return w.Phases[w.phase.Load()] }

func (w *worker) keep(on string, token int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bag) >= 400 {
		w.bag = w.bag[200:]
	}
	w.bag = append(w.bag, shownOnce{on: on, token: token})
}

func (w *worker) old(rng *rand.Rand) (shownOnce, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bag) == 0 {
		return shownOnce{}, false
	}
	newest := min(len(w.bag), 60) // most are of this phase
	return w.bag[len(w.bag)-1-rng.IntN(newest)], true
}

// recordPublished stores the reservation of a published deployment, which most operations use.
func (w *worker) recordPublished(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.up = append(w.up[max(0, len(w.up)-4):], name)
}

func (w *worker) standing(rng *rand.Rand) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := w.active()
	if len(w.up) > 0 && rng.IntN(3) > 0 {
		if name := w.up[rng.IntN(len(w.up))]; slices.Contains(names, name) {
			return name
		}
	}
	return names[rng.IntN(len(names))]
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
