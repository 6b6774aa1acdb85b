package controller

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// batchCloud is a cloud in memory that records the peak number of deployments.
type batchCloud struct {
	mu     sync.Mutex
	stands []hook.Deployment
	peak   int
	calls  []string
	// broken fails a verb so many times.
	broken map[hook.Verb]int
	// flaky, if set, says whether a call fails.
	flaky func(v hook.Verb) bool
	// tests answer by version and intent; without one it passes.
	tests map[string]func(ctx context.Context) (hook.Result, error)
	// provisions is called before a deployment is created.
	provisions func(l hook.Lease, name string)
	// tearing happens before something is taken down.
	tearing func(ctx context.Context) error
}

func (c *batchCloud) Owner() string { return "team-x" }

func (c *batchCloud) call(v hook.Verb, of string) error {
	c.calls = append(c.calls, fmt.Sprintf("%s %s", v, of))
	if c.flaky != nil && c.flaky(v) {
		return fmt.Errorf("%s: not now", v)
	}
	if c.broken[v] > 0 {
		c.broken[v]--
		return fmt.Errorf("%s: no permission", v)
	}
	return nil
}

func (c *batchCloud) Discover(_ context.Context, _ config.Cloud, row *config.Reservation, _ hook.Lease) ([]hook.Deployment, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.stands), c.call(hook.Discover, row.Name)
}

func (c *batchCloud) Provision(_ context.Context, row config.Reservation, intent config.Intent, name string, l hook.Lease) (hook.Deployment, error) {
	if c.provisions != nil {
		c.provisions(l, name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := hook.Deployment{Name: name, Owner: c.Owner(), Reservation: row.Name, Intent: intent, Token: l.Token}
	c.stands = append(c.stands, d) // also on failure: a partial deployment
	c.peak = max(c.peak, len(c.stands))
	return d, c.call(hook.Provision, name)
}

func (c *batchCloud) Test(ctx context.Context, _ config.Reservation, version string, intent config.Intent, _ string, _ hook.Lease) (hook.Result, error) {
	c.mu.Lock()
	test := c.tests[version+"/"+string(intent)]
	c.mu.Unlock()
	if test != nil {
		return test(ctx)
	}
	return hook.Result{Verdict: hook.Passed, Checks: 3, Evidence: "there"}, nil
}

func (c *batchCloud) Teardown(ctx context.Context, _ config.Reservation, name string, _ hook.Lease) error {
	if c.tearing != nil {
		if err := c.tearing(ctx); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.call("teardown", name); err != nil {
		return err
	}
	c.stands = slices.DeleteFunc(c.stands, func(d hook.Deployment) bool { return d.Name == name })
	return nil
}

func (c *batchCloud) called(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, call := range c.calls {
		if strings.HasPrefix(call, prefix) {
			n++
		}
	}
	return n
}

// night is a leg with all that it works with.
type night struct {
	t     *testing.T
	cloud *batchCloud
	b     *broker.Broker
	k     *store.Kube
	rot   *Rotation
	clock *clock.File
	opts  BatchOptions
	leg   Leg

	mu      sync.Mutex
	written [][]matrix.Cell
}

// newNight returns a night of five hours with a cell limit of one hour.
func newNight(t *testing.T, cells ...string) *night {
	t.Helper()
	k := shared.Kube(t)
	c, err := clock.Open(filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	name := "b-" + strings.ToLower(strings.NewReplacer("/", "-", "_", "-", " ", "-", ",", "").Replace(t.Name()))
	if _, err := k.Create(t.Context(), &store.Reservation{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if r, err := k.Get(ctx, name); err == nil {
			_ = k.Delete(ctx, r) // so that the test can be run twice
		}
	})
	n := &night{
		t: t, k: k, clock: c, b: broker.New(broker.Options{Store: k, Clock: c, Poll: 10 * time.Millisecond}),
		cloud: &batchCloud{broken: map[hook.Verb]int{}, tests: map[string]func(context.Context) (hook.Result, error){}},
	}
	n.rot = NewRotation(RotationOptions{Broker: n.b, Store: k, Hooks: n.cloud, Now: c.Now})
	n.opts = BatchOptions{
		Broker: n.b, Store: k, Hooks: n.cloud, Clean: n.rot.Clean, Clock: c, PollInterval: 10 * time.Millisecond, RetryInterval: time.Millisecond,
		Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return nil },
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("written down last: %+v", n.last())
		}
	})
	now := c.Now()
	n.leg = Leg{
		Row: config.Reservation{Name: name, Slug: "r1", Cloud: config.AWS}, Limit: time.Hour, Cutoff: now.Add(4 * time.Hour), Until: now.Add(5*time.Hour + time.Minute),
		Record: func(_ context.Context, cells []matrix.Cell) error {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.written = append(n.written, cells)
			return nil
		},
	}
	for _, cell := range cells {
		version, intent, _ := strings.Cut(cell, "/")
		n.leg.Cells = append(n.leg.Cells, matrix.Cell{Version: version, Intent: config.Intent(intent), Outcome: matrix.Pending})
	}
	return n
}

// last is what was written down last.
func (n *night) last() []matrix.Cell {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.written) == 0 {
		return nil
	}
	return n.written[len(n.written)-1]
}

func (n *night) run() []matrix.Cell {
	n.t.Helper()
	cells, err := NewBatch(n.opts).Run(n.t.Context(), n.leg)
	if err != nil {
		n.t.Fatal(err)
	}
	n.alone()
	return cells
}

// start runs the leg concurrently.
func (n *night) start(ctx context.Context) (ended func() ([]matrix.Cell, error)) {
	type end struct {
		cells []matrix.Cell
		err   error
	}
	c := make(chan end, 1)
	go func() {
		cells, err := NewBatch(n.opts).Run(ctx, n.leg)
		c <- end{cells, err}
	}()
	return func() ([]matrix.Cell, error) {
		select {
		case e := <-c:
			return e.cells, e.err
		case <-time.After(2 * time.Minute):
			return n.last(), errors.New("the leg does not end")
		}
	}
}

// alone checks that two deployments never existed at once.
func (n *night) alone() {
	n.t.Helper()
	if n.cloud.peak > 1 {
		n.t.Errorf("%d deployments at once: %v", n.cloud.peak, n.cloud.calls)
	}
}

// sweeping ends what is over and cleans what is dirty, as the controller does, until the
// test ends.
func (n *night) sweeping() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(n.t.Context()))
	var swept sync.WaitGroup
	swept.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = n.b.ExpireOverdue(ctx, n.leg.Row.Name)              // and again
				_, _ = n.rot.Clean(ctx, n.leg.Row, "controller", false) // and again
			}
		}
	})
	n.t.Cleanup(func() { cancel(); swept.Wait() }) // before the reservation is deleted
}

func (n *night) state() *store.Status {
	n.t.Helper()
	r, err := n.k.Get(n.t.Context(), n.leg.Row.Name)
	if err != nil {
		n.t.Fatal(err)
	}
	return &r.Status
}

// until waits until something holds.
func (n *night) until(what string, holds func() bool) {
	n.t.Helper()
	polltest.Until(n.t, what, holds)
}

// want compares outcomes, attempts and reasons: "passed 1", "failed 1 why".
func (n *night) want(got []matrix.Cell, want ...string) {
	n.t.Helper()
	if len(got) != len(want) {
		n.t.Fatalf("%d cells, want %d: %+v", len(got), len(want), got)
	}
	for i, c := range got {
		text := fmt.Sprintf("%s %d %s", c.Outcome, c.Attempts, c.Reason)
		if !strings.HasPrefix(strings.TrimSpace(text), want[i]) {
			n.t.Errorf("%s: got %q, want %q", c.Name(), text, want[i])
		}
		if c.Ended == nil || c.Outcome == matrix.Passed && (c.Checks == 0 || c.Reason != "" || c.Started == nil || c.Deployment == "") {
			n.t.Errorf("%s: %+v", c.Name(), c)
		}
	}
}

// free: nothing is left of the night.
func (n *night) free() {
	n.t.Helper()
	n.until("it is free", func() bool { return n.state().CurrentState() == lease.Free }) // a sweep may be at it
	if s := n.state(); len(n.cloud.stands) > 0 || len(s.Queue) > 0 {
		n.t.Errorf("remaining deployments %v, queue %v", n.cloud.stands, s.Queue)
	}
}
