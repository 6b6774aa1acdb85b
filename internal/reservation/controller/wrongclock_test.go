package controller

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// wrong is a clock that is set ahead of the API server's, and back.
type wrong struct {
	*clock.File
	ahead atomic.Int64
}

func (w *wrong) Now() time.Time { return w.File.Now().Add(time.Duration(w.ahead.Load())) }

func (w *wrong) Until(ctx context.Context, t time.Time) error {
	return poll.Until(ctx, 5*time.Millisecond, "the time", func(context.Context) error {
		if now := w.Now(); now.Before(t) {
			return fmt.Errorf("it is %s", now)
		}
		return nil
	})
}

// measuring is a store that measures the clock.
type measuring struct {
	*store.Kube
	clock *wrong
}

func (m measuring) ClockOffset() time.Duration { return -time.Duration(m.clock.ahead.Load()) }

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

// While the clock of the controller is wrong, it starts no hand-over and misses none: the deployments of the day
// stay until the evening, and are removed then.
func TestWrongClockStartsNoHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		ahead   time.Duration
		restart bool // while the clock is wrong
	}{
		"into the window":            {10 * time.Hour, false},
		"over the window":            {14 * time.Hour, false},
		"into the window, a restart": {10 * time.Hour, true},
		"over the window, a restart": {14 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, "wrong", at(t, "2027-01-10T13:30:00Z"))
			w, log := &wrong{File: h.clock}, &lines{}
			h.b = broker.New(broker.Options{Store: measuring{h.k, w}, Clock: w, Grace: 20 * time.Millisecond, Poll: 10 * time.Millisecond})
			h.batch.b = h.b
			h.opts.Broker, h.opts.Clock, h.opts.Log = h.b, w, slog.New(slog.NewTextHandler(log, nil))
			h.opts.Rotation = NewRotation(RotationOptions{Broker: h.b, Store: h.k, Hooks: h.cloud, Now: w.Now, Ready: func(context.Context, config.Reservation, string, hook.Lease) error { return nil }})
			if err := h.play(t, at(t, "2027-01-10T15:30:00Z"), nil); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			ctl := New(h.opts)
			if c.restart {
				w.ahead.Store(int64(c.ahead))
			}
			go func() { ended <- ctl.Run(ctx) }()
			if !c.restart {
				polltest.Until(t, "the controller waits", func() bool { s := ctl.Status(); return s.Idle && !s.Next.IsZero() })
				w.ahead.Store(int64(c.ahead))
			}
			polltest.Until(t, "the clock is noticed", func() bool { return log.has("no hand-over starts") || len(h.done(t)["down"]) > 0 })
			if n := len(h.done(t)["down"]); n > 0 || h.cloud.called(hook.Teardown) > 0 {
				t.Errorf("%d hand-overs, %v", n, h.cloud.calls)
			}
			w.ahead.Store(0)
			polltest.Until(t, "the controller waits", func() bool { s := ctl.Status(); return s.Idle && !s.Next.IsZero() })
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if n := h.cloud.called(hook.Teardown); n > 0 {
				t.Errorf("%d deployments are removed by day", n)
			}
			if err := h.play(t, at(t, "2027-01-11T02:00:00Z"), nil); err != nil {
				t.Fatal(err)
			}
			down := h.done(t)["down"]
			if len(down) != 1 || down[0].Status.Failed != "" || !down[0].Spec.At.Time.Equal(at(t, "2027-01-11T01:00:00Z")) || h.cloud.called(hook.Teardown) != 1 {
				t.Errorf("%+v, %v", down, h.cloud.calls)
			}
		})
	}
}

// The clock becomes wrong while a holder has notice: they keep the deployment.
func TestWrongClockEvictsNoHolder(t *testing.T) {
	d := newRotationDay(t)
	w := &wrong{File: nil}
	d.opts.Broker = broker.New(broker.Options{Store: measuring{d.k, w}})
	d.up(t)
	if _, err := d.b.Checkout(t.Context(), d.row.Name, lease.Ticket{Holder: "ada"}); err != nil {
		t.Fatal(err)
	}
	w.ahead.Store(int64(10 * time.Hour))
	if out, err := d.Down(t.Context(), d.row, "evening", d.now.Add(-time.Hour), false); err == nil {
		t.Errorf("%+v", out)
	}
	if l := d.state(t).Lease; l == nil || l.Holder != "ada" {
		t.Errorf("%+v", l)
	}
}
