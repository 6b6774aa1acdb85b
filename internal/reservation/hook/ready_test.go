package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

type readyClock struct{ now time.Time }

func (c *readyClock) Now() time.Time { return c.now }

func (c *readyClock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return context.Cause(ctx)
}

var readyStart = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)

func readyOptions(c *readyClock, looks ...NodeSample) (ReadyOptions, *bytes.Buffer) {
	log := &bytes.Buffer{}
	n := 0
	return ReadyOptions{
		Expected: wantReady, Timeout: time.Hour, Interval: 15 * time.Second, Clock: c, Log: log,
		GetNodes: func(context.Context) (Nodes, error) {
			l := looks[min(n, len(looks)-1)]
			n++
			if l.Error != "" {
				return nil, errors.New(l.Error)
			}
			return l.Nodes, nil
		},
	}, log
}

func readyAttempts(t *testing.T, log *bytes.Buffer) []ReadyAttempt {
	t.Helper()
	var out []ReadyAttempt
	for line := range strings.Lines(log.String()) {
		var a ReadyAttempt
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, a)
	}
	return out
}

func TestAwait(t *testing.T) {
	t.Parallel()
	c := &readyClock{now: readyStart}
	late := readySampleWith(func(l *NodeSample) { l.Nodes = l.Nodes[:1] })
	o, log := readyOptions(c, NodeSample{Error: "refused"}, late, readySample(), readySampleWith(func(l *NodeSample) { l.Nodes[0].UID = "9" }), readySampleWith(func(l *NodeSample) { l.Nodes[0].UID = "9" }))
	nodes, err := WaitReady(t.Context(), o)
	if err != nil || len(nodes) != 2 || nodes[0].UID != "9" {
		t.Fatalf("%v, %+v", err, nodes)
	}
	all := readyAttempts(t, log)
	var passes []int
	for i, a := range all {
		passes = append(passes, a.Checks)
		if a.N != i+1 || !a.StartedAt.Equal(readyStart.Add(time.Duration(i)*o.Interval)) || a.RemainingSeconds <= 0 {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
	if len(all) != 5 || !all[4].Ready || all[3].Reasons == nil || all[0].Sample.Error != "get nodes: refused" {
		t.Errorf("passes %v: %s", passes, log)
	}
}

func TestTheDeadline(t *testing.T) {
	t.Parallel()
	c := &readyClock{now: readyStart}
	o, log := readyOptions(c, readySampleWith(func(l *NodeSample) { l.Nodes[0].Cordoned = true }))
	o.Timeout = time.Minute
	_, err := WaitReady(t.Context(), o)
	var late *NotReadyError
	if !errors.As(err, &late) || late.Attempts != 4 || !strings.Contains(err.Error(), "last attempt: 0 of 2 consecutive checks: a is cordoned") {
		t.Errorf("got %v", err)
	}
	if n := len(readyAttempts(t, log)); n != 4 || c.now.After(readyStart.Add(time.Minute)) {
		t.Errorf("%d attempts until %s", n, c.now)
	}
}

// The last check must succeed before the timeout.
func TestTooLate(t *testing.T) {
	t.Parallel()
	c := &readyClock{now: readyStart}
	o, _ := readyOptions(c, readySample())
	look := o.GetNodes
	o.Timeout = time.Minute
	o.GetNodes = func(ctx context.Context) (Nodes, error) {
		c.now = c.now.Add(40 * time.Second)
		return look(ctx)
	}
	var late *NotReadyError
	if _, err := WaitReady(t.Context(), o); !errors.As(err, &late) || late.Attempts != 2 {
		t.Errorf("got %v", err)
	}
}

// An attempt is bounded by the remaining time.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ each, within, want time.Duration }{
		{0, time.Hour, time.Hour}, {time.Minute, time.Hour, time.Minute}, {time.Hour, time.Minute, time.Minute},
	} {
		c := &readyClock{now: readyStart}
		o, _ := readyOptions(c, readySample())
		o.AttemptTimeout, o.Timeout, o.Expected.Checks = tt.each, tt.within, 1
		o.ExtraCheck = func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if got := time.Until(deadline); !ok || got > tt.want || got < tt.want-time.Minute/2 {
				t.Errorf("it has %s, want %s", got, tt.want)
			}
			return nil
		}
		if _, err := WaitReady(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWhatKeepsItFromBeingAwaited(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancelCause(t.Context())
	lost := errors.New("lease lost")
	cancel(lost)
	for _, tt := range []struct {
		name   string
		ctx    context.Context //nolint:containedctx // a case
		change func(*ReadyOptions)
		want   string
	}{
		{"no record", t.Context(), func(o *ReadyOptions) { o.Log = full{} }, "no space left"},
		{"its caller", ended, func(*ReadyOptions) {}, "lease lost"},
		{"no nodes wanted", t.Context(), func(o *ReadyOptions) { o.Expected.Nodes = 0 }, "must expect at least one node"},
		{"no deadline", t.Context(), func(o *ReadyOptions) { o.Timeout = 0 }, "the timeout must be positive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, _ := readyOptions(&readyClock{now: readyStart}, readySample())
			tt.change(&o)
			if _, err := WaitReady(tt.ctx, o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A wait that its caller ends says what was not ready.
func TestEndedWaitSaysWhatWasNotReady(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"an attempt", "a pause"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		o, _ := readyOptions(&readyClock{}, readySampleWith(func(l *NodeSample) { l.Nodes[0].Cordoned = true }))
		get, calls := o.GetNodes, 0
		o.GetNodes = func(ctx context.Context) (Nodes, error) {
			if calls++; calls == 2 && during == "an attempt" {
				cancel(errors.New("end of the window"))
				return nil, ctx.Err()
			}
			return get(ctx)
		}
		if during == "a pause" {
			o.Clock = stopping{o.Clock, func() { cancel(errors.New("end of the window")) }}
		}
		_, err := WaitReady(ctx, o)
		if err == nil || !strings.Contains(err.Error(), "end of the window") || !strings.Contains(err.Error(), "cordoned") {
			t.Errorf("ended during %s: %v", during, err)
		}
	}
}

// stopping ends a pause.
type stopping struct {
	Clock
	stop func()
}

func (s stopping) Sleep(ctx context.Context, _ time.Duration) error {
	s.stop()
	return context.Cause(ctx)
}
