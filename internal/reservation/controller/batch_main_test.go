package controller

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// night is a leg with all that it works with.
type night struct {
	t     *testing.T
	cloud *cloud
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
		cloud: newCloud(),
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
	polltest.Until(n.t, "it is free", func() bool { return n.state().CurrentState() == lease.Free }) // a sweep may be at it
	if s := n.state(); len(n.cloud.stands) > 0 || len(s.Queue) > 0 {
		n.t.Errorf("remaining deployments %v, queue %v", n.cloud.stands, s.Queue)
	}
}
