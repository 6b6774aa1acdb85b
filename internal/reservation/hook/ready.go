package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// ReadyOptions configure WaitReady.
type ReadyOptions struct {
	Expected ReadyExpectation
	// Timeout of the wait, Interval between attempts, and AttemptTimeout of one attempt; 0: the
	// remaining time.
	Timeout, Interval, AttemptTimeout time.Duration
	GetNodes                          func(ctx context.Context) (Nodes, error)
	// ExtraCheck, if set, is part of each attempt.
	ExtraCheck func(ctx context.Context) error
	// Log receives a line of JSON per attempt, before the next one starts; nil: none.
	Log   io.Writer
	Clock Clock
}

// ReadyAttempt is one line of the log.
type ReadyAttempt struct {
	N         int       `json:"n"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt"`
	// RemainingSeconds until the timeout.
	RemainingSeconds float64    `json:"leftSeconds"`
	Sample           NodeSample `json:"sample"`
	ReadyResult
}

// NotReadyError means that the timeout was reached.
type NotReadyError struct {
	Timeout  time.Duration
	Attempts int
	Last     ReadyResult
	Want     int
}

func (e *NotReadyError) Error() string {
	return fmt.Sprintf("not ready after %s and %d attempts; %s", e.Timeout, e.Attempts, e.reason())
}

// reason describes the last attempt.
func (e *NotReadyError) reason() string {
	reason := "no attempt was made"
	if e.Attempts > 0 {
		reason = fmt.Sprintf("last attempt: %d of %d consecutive checks", e.Last.Checks, e.Want)
	}
	if len(e.Last.Reasons) > 0 {
		reason += ": " + strings.Join(e.Last.Reasons, "; ")
	}
	return reason
}

// WaitReady waits until a deployment is ready and returns its nodes. It returns a NotReadyError at
// the timeout.
func WaitReady(ctx context.Context, o ReadyOptions) (Nodes, error) {
	if err := o.Expected.Validate(); err != nil {
		return nil, err
	}
	if o.Timeout <= 0 || o.Interval < 0 || o.AttemptTimeout < 0 {
		return nil, fmt.Errorf("wait until ready: invalid timeout %s, interval %s or attempt timeout %s: must not be negative, and the timeout must be positive", o.Timeout, o.Interval, o.AttemptTimeout)
	}
	end := o.Clock.Now().Add(o.Timeout)
	var last ReadyResult
	for n := 1; ; n++ {
		late := &NotReadyError{Timeout: o.Timeout, Attempts: n - 1, Last: last, Want: o.Expected.Checks}
		left := end.Sub(o.Clock.Now())
		if left <= 0 {
			return nil, late
		}
		a := o.attempt(ctx, n, left, last.ReadyCount)
		a.RemainingSeconds = end.Sub(a.EndedAt).Seconds()
		if a.Ready && a.EndedAt.After(end) {
			a.Ready = false // after the timeout
		}
		if err := o.logAttempt(a); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("wait until ready: %w; %s", context.Cause(ctx), late.reason())
		}
		if last = a.ReadyResult; last.Ready {
			return last.Nodes, nil
		}
		if err := o.Clock.Sleep(ctx, min(o.Interval, max(0, end.Sub(o.Clock.Now())))); err != nil {
			late.Attempts, late.Last = n, last
			return nil, fmt.Errorf("wait until ready: %w; %s", err, late.reason())
		}
	}
}

var errAttemptTimeout = errors.New("attempt timed out")

func (o ReadyOptions) attempt(ctx context.Context, n int, left time.Duration, before ReadyCount) ReadyAttempt {
	a := ReadyAttempt{N: n, StartedAt: o.Clock.Now()}
	bound := left
	if o.AttemptTimeout > 0 {
		bound = min(bound, o.AttemptTimeout)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, bound, errAttemptTimeout)
	defer cancel()
	nodes, err := o.GetNodes(ctx)
	switch {
	case err != nil:
		a.Sample.Error = "get nodes: " + err.Error()
	case nodes == nil:
		a.Sample.Nodes = Nodes{}
	default:
		a.Sample.Nodes = nodes
	}
	if err == nil && o.ExtraCheck != nil {
		if err := o.ExtraCheck(ctx); err != nil {
			a.Sample.Error = err.Error()
		}
	}
	a.EndedAt = o.Clock.Now()
	a.ReadyResult = JudgeReady(before, a.Sample, o.Expected)
	return a
}

// logAttempt writes a line. A failed write ends the wait: every attempt must be on record.
func (o ReadyOptions) logAttempt(a ReadyAttempt) error {
	if o.Log == nil {
		return nil
	}
	raw, err := json.Marshal(a)
	if err == nil {
		_, err = o.Log.Write(append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("log readiness attempt %d: %w", a.N, err)
	}
	return nil
}
