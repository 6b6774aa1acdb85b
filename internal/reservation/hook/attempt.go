package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// FailedError means that all attempts of a hook failed.
type FailedError struct {
	Verb Verb `json:"verb"`
	// Of is the deployment, the reservation or the cloud.
	Of       string `json:"of"`
	Attempts int    `json:"attempts"`
	// Last is the end of the last attempt.
	Last End   `json:"last"`
	Err  error `json:"-"`
}

// End of an attempt.
type End struct {
	// ExitStatus is nil if the hook did not run to its end.
	ExitStatus *int `json:"exitStatus,omitempty"`
	// Response is nil if the hook gave no valid one.
	Response *Response `json:"response,omitempty"`
	// Log has the last lines.
	Log []string `json:"log,omitempty"`
}

// FailureOf returns the first failure of a hook in an error; nil: none.
func FailureOf(err error) *FailedError {
	failed, _ := errors.AsType[*FailedError](err)
	return failed
}

func (e *FailedError) Error() string {
	text := fmt.Sprintf("%s %s: attempt %d: %v", e.Verb, e.Of, e.Attempts, e.Err)
	if len(e.Last.Log) > 0 {
		text += "\n  | " + strings.Join(e.Last.Log, "\n  | ")
	}
	return text
}

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// call runs a hook until an attempt succeeds, one fails permanently, or no attempt is left. after,
// if set, is part of an attempt; its error is temporary. Its own error is a FailedError.
func (c *Client) call(ctx context.Context, r Request, after func(context.Context) error) (Response, error) {
	r.APIVersion, r.Owner = APIVersion, c.opts.Config.Owner
	of := r.Deployment
	if of == "" {
		of = nameOf(r)
	}
	fail := func(attempts int, last End, err error) (Response, error) {
		return Response{}, &FailedError{Verb: r.Verb, Of: of, Attempts: attempts, Last: last, Err: err}
	}
	h, runner, err := c.hook(r.Cloud)
	if err != nil {
		return fail(0, End{}, err)
	}
	limit := h.Limits[r.Verb]
	log := c.opts.Log.With("verb", string(r.Verb), "of", of, "token", r.Lease.Token)
	for r.Attempt = 1; ; r.Attempt++ {
		end, err := c.attempt(ctx, runner, limit, r, after)
		switch {
		case err == nil:
			log.InfoContext(ctx, "hook succeeded", "attempt", r.Attempt)
			return *end.Response, nil
		case ctx.Err() != nil:
			return fail(r.Attempt, end, errors.Join(context.Cause(ctx), err))
		case !errors.Is(err, ErrTemporary) || r.Attempt >= limit.Attempts:
			log.WarnContext(ctx, "hook failed", "attempt", r.Attempt, "err", err)
			return fail(r.Attempt, end, err)
		}
		pause := c.opts.Jitter(limit.backoff(r.Attempt))
		log.InfoContext(ctx, "retrying hook", "attempt", r.Attempt, "err", err, "after", pause.String())
		if ended := c.opts.Clock.Sleep(ctx, pause); ended != nil {
			return fail(r.Attempt, end, errors.Join(ended, err))
		}
	}
}

// attempt runs the hook once. ErrTemporary in the error means that a retry may succeed.
func (c *Client) attempt(ctx context.Context, runner Runner, limit Limit, r Request, after func(context.Context) error) (End, error) {
	if err := c.fenced(ctx, r); err != nil {
		return End{}, err
	}
	r.Deadline = c.opts.Clock.Now().Add(limit.Time).UTC()
	if err := r.validate(); err != nil {
		return End{}, fmt.Errorf("make the request: %w", err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return End{}, fmt.Errorf("make the request: %w", err)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit.Time, fmt.Errorf("timeout after %s: %w", limit.Time, ErrTemporary))
	defer cancel()
	out, err := runner.Run(bounded, r, body)
	end := End{Log: out.Log}
	if err != nil && !out.Ended {
		return end, err
	}
	end.ExitStatus = &out.Status
	resp, wrong := outcome(out, r)
	if resp.APIVersion != "" {
		end.Response = &resp
	}
	if err != nil {
		return end, withOutcome(err, wrong)
	}
	err = wrong
	if err == nil && after != nil {
		if err = after(ctx); err != nil && !isStale(err) {
			err = fmt.Errorf("%w: %w", ErrTemporary, err)
		}
	}
	return end, err
}

// withOutcome adds to the error of an attempt how the hook itself ended. It is not temporary.
func withOutcome(err, outcome error) error {
	if outcome == nil {
		return fmt.Errorf("%w; the hook itself succeeded", err)
	}
	return fmt.Errorf("%w; the hook itself: %v", err, outcome) //nolint:errorlint // the outcome may be temporary
}

const (
	// fenceChecks bounds the checks of the lease before an attempt, with a pause of fenceInterval. A store that is
	// not available for as long has lost the lease, which ends ctx.
	fenceChecks   = 60
	fenceInterval = time.Second
)

// fenced checks the lease. If it cannot be checked, the hook does not run, and the check is repeated: no attempt was
// made, and a test has only one. The error is temporary.
func (c *Client) fenced(ctx context.Context, r Request) error {
	if r.Lease.Token == 0 || r.Reservation == nil {
		if r.Verb.hasSideEffects() {
			return fmt.Errorf("%s needs the token of a lease", r.Verb)
		}
		return nil
	}
	for checks := 1; ; checks++ {
		err := c.opts.Fence.Check(ctx, r.Reservation.Name, r.Lease.Token)
		switch {
		case err == nil || isStale(err):
			return err
		case checks == fenceChecks:
			return fmt.Errorf("%w: %w", ErrTemporary, err)
		}
		if ended := c.opts.Clock.Sleep(ctx, c.opts.Jitter(fenceInterval)); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

func isStale(err error) bool {
	var s *lease.StaleError
	return errors.As(err, &s)
}

// outcome interprets the output of an attempt.
func outcome(out Output, r Request) (Response, error) {
	switch out.Status {
	case ExitDone:
		resp, err := ParseResponse(out.Response, r)
		if err == nil && resp.Error != "" {
			resp, err = resp.onlyError(), fmt.Errorf("exit status 0, but the response has an error: %s", resp.Error)
		}
		return resp, err
	case ExitTemporary:
		resp, reason := failure(out, r)
		return resp, fmt.Errorf("%w: exit status %d%s", ErrTemporary, out.Status, reason)
	default:
		resp, reason := failure(out, r)
		return resp, fmt.Errorf("exit status %d%s", out.Status, reason)
	}
}

// onlyError drops the other fields of a response with an error, which are not validated.
func (r Response) onlyError() Response { return Response{APIVersion: r.APIVersion, Error: r.Error} }

// failure returns the error of the response, if it has one, and the reason: this error, or the last
// line of the log.
func failure(out Output, r Request) (resp Response, reason string) {
	if resp, err := ParseResponse(out.Response, r); err == nil && resp.Error != "" {
		return resp.onlyError(), ": " + resp.Error
	}
	if n := len(out.Log); n > 0 {
		return Response{}, ": " + out.Log[n-1]
	}
	return Response{}, ", without output"
}
