package readiness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/hook"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return context.Cause(ctx)
}

var began = time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)

func options(c *clock, looks ...Look) (Options, *bytes.Buffer) {
	log := &bytes.Buffer{}
	n := 0
	return Options{
		Expect: want, Within: time.Hour, Between: 15 * time.Second, Clock: c, Log: log,
		Census: func(context.Context) (hook.Nodes, error) {
			l := looks[min(n, len(looks)-1)]
			n++
			if l.Err != "" {
				return nil, errors.New(l.Err)
			}
			return l.Nodes, nil
		},
	}, log
}

func attempts(t *testing.T, log *bytes.Buffer) []Attempt {
	t.Helper()
	var out []Attempt
	for line := range strings.Lines(log.String()) {
		var a Attempt
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, a)
	}
	return out
}

func TestAwait(t *testing.T) {
	t.Parallel()
	c := &clock{now: began}
	late := with(func(l *Look) { l.Nodes = l.Nodes[:1] })
	o, log := options(c, Look{Err: "refused"}, late, good(), with(func(l *Look) { l.Nodes[0].UID = "9" }), with(func(l *Look) { l.Nodes[0].UID = "9" }))
	nodes, err := Await(t.Context(), o)
	if err != nil || len(nodes) != 2 || nodes[0].UID != "9" {
		t.Fatalf("%v, %+v", err, nodes)
	}
	all := attempts(t, log)
	var passes []int
	for i, a := range all {
		passes = append(passes, a.Passes)
		if a.N != i+1 || !a.Began.Equal(began.Add(time.Duration(i)*o.Between)) || a.Left <= 0 {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
	if len(all) != 5 || !all[4].Ready || all[3].Why == nil || all[0].Look.Err != "census: refused" {
		t.Errorf("passes %v: %s", passes, log)
	}
}

func TestTheDeadline(t *testing.T) {
	t.Parallel()
	c := &clock{now: began}
	o, log := options(c, with(func(l *Look) { l.Nodes[0].Cordoned = true }))
	o.Within = time.Minute
	_, err := Await(t.Context(), o)
	var late *NotReadyError
	if !errors.As(err, &late) || late.Attempts != 4 || !strings.Contains(err.Error(), "at last 0 of 2 passes in a row: a is cordoned") {
		t.Errorf("got %v", err)
	}
	if n := len(attempts(t, log)); n != 4 || c.now.After(began.Add(time.Minute)) {
		t.Errorf("%d attempts until %s", n, c.now)
	}
}

// The last pass has to be there before the deadline is.
func TestTooLate(t *testing.T) {
	t.Parallel()
	c := &clock{now: began}
	o, _ := options(c, good())
	look := o.Census
	o.Within = time.Minute
	o.Census = func(ctx context.Context) (hook.Nodes, error) {
		c.now = c.now.Add(40 * time.Second)
		return look(ctx)
	}
	var late *NotReadyError
	if _, err := Await(t.Context(), o); !errors.As(err, &late) || late.Attempts != 2 {
		t.Errorf("got %v", err)
	}
}

// An attempt is bounded by what is left, and that is never no bound at all.
func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ each, within, want time.Duration }{
		{0, time.Hour, time.Hour}, {time.Minute, time.Hour, time.Minute}, {time.Hour, time.Minute, time.Minute},
	} {
		c := &clock{now: began}
		o, _ := options(c, good())
		o.Each, o.Within, o.Expect.Passes = tt.each, tt.within, 1
		o.Also = func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if got := time.Until(deadline); !ok || got > tt.want || got < tt.want-time.Minute/2 {
				t.Errorf("it has %s, want %s", got, tt.want)
			}
			return nil
		}
		if _, err := Await(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWhatKeepsItFromBeingAwaited(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancelCause(t.Context())
	lost := errors.New("the lease was lost")
	cancel(lost)
	for _, tt := range []struct {
		name   string
		ctx    context.Context //nolint:containedctx // a case
		change func(*Options)
		want   string
	}{
		{"no record", t.Context(), func(o *Options) { o.Log = full{} }, "no space left"},
		{"its caller", ended, func(*Options) {}, "the lease was lost"},
		{"no nodes wanted", t.Context(), func(o *Options) { o.Expect.Nodes = 0 }, "no nodes are not ready nodes"},
		{"no deadline", t.Context(), func(o *Options) { o.Within = 0 }, "want a deadline"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, _ := options(&clock{now: began}, good())
			tt.change(&o)
			if _, err := Await(tt.ctx, o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
