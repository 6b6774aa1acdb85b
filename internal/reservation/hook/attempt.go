package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// FailedError says that a hook did not do what it was asked for.
type FailedError struct {
	Verb Verb
	// Of is the deployment, the reservation or the cloud that it was asked for.
	Of string
	// Attempts that were made.
	Attempts int
	// Log are the last lines of the last attempt's.
	Log []string
	Err error
}

func (e *FailedError) Error() string {
	text := fmt.Sprintf("%s %s: attempt %d: %v", e.Verb, e.Of, e.Attempts, e.Err)
	if len(e.Log) > 0 {
		text += "\n  | " + strings.Join(e.Log, "\n  | ")
	}
	return text
}

// Unwrap is why.
func (e *FailedError) Unwrap() error { return e.Err }

// call makes attempts until one is done, one fails for good, or there are no more. after,
// if set, belongs to an attempt: what it finds wrong may go better with the next.
func (c *Client) call(ctx context.Context, r Request, after func(context.Context) error) (Response, error) {
	r.APIVersion, r.Owner = APIVersion, c.opts.Config.Owner
	of := r.Deployment
	if of == "" {
		of = nameOf(r)
	}
	fail := func(attempts int, log []string, err error) (Response, error) {
		return Response{}, &FailedError{Verb: r.Verb, Of: of, Attempts: attempts, Log: log, Err: err}
	}
	h, runner, err := c.hook(r.Cloud)
	if err != nil {
		return fail(0, nil, err)
	}
	limit := h.Limits[r.Verb]
	log := c.opts.Log.With("verb", string(r.Verb), "of", of, "token", r.Lease.Token)
	for r.Attempt = 1; ; r.Attempt++ {
		resp, lines, err := c.attempt(ctx, runner, limit, r, after)
		switch {
		case err == nil:
			log.InfoContext(ctx, "hook is done", "attempt", r.Attempt)
			return resp, nil
		case ctx.Err() != nil:
			return fail(r.Attempt, lines, errors.Join(context.Cause(ctx), err))
		case !errors.Is(err, ErrTemporary) || r.Attempt >= limit.Attempts:
			log.WarnContext(ctx, "hook failed", "attempt", r.Attempt, "err", err)
			return fail(r.Attempt, lines, err)
		}
		pause := c.opts.Jitter(limit.backoff(r.Attempt))
		log.InfoContext(ctx, "hook is tried again", "attempt", r.Attempt, "err", err, "after", pause.String())
		if ended := c.opts.Clock.Sleep(ctx, pause); ended != nil {
			return fail(r.Attempt, lines, errors.Join(ended, err))
		}
	}
}

// attempt is one. An error that is ErrTemporary may go better with the next.
func (c *Client) attempt(ctx context.Context, runner Runner, limit Limit, r Request, after func(context.Context) error) (Response, []string, error) {
	if err := c.fenced(ctx, r); err != nil {
		return Response{}, nil, err
	}
	r.Deadline = c.opts.Clock.Now().Add(limit.Time).UTC()
	if err := r.validate(); err != nil {
		return Response{}, nil, fmt.Errorf("make the request: %w", err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		return Response{}, nil, fmt.Errorf("make the request: %w", err)
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit.Time, fmt.Errorf("it was ended after %s: %w", limit.Time, ErrTemporary))
	defer cancel()
	out, err := runner.Run(bounded, r, body)
	if err != nil {
		return Response{}, out.Log, err //nolint:wrapcheck // says what it ran
	}
	resp, err := outcome(out, r)
	if err == nil && after != nil {
		if err = after(ctx); err != nil && !isStale(err) {
			err = fmt.Errorf("%w: %w", ErrTemporary, err)
		}
	}
	return resp, out.Log, err
}

// fenced asks whether the lease is still good. Where that can't be asked, nothing is
// done; it may be asked again.
func (c *Client) fenced(ctx context.Context, r Request) error {
	if r.Lease.Token == 0 || r.Reservation == nil {
		if r.Verb.hasSideEffects() {
			return fmt.Errorf("%s needs the token of a lease of a reservation", r.Verb)
		}
		return nil
	}
	err := c.opts.Fence.Check(ctx, r.Reservation.Name, r.Lease.Token)
	if err == nil || isStale(err) {
		return err //nolint:wrapcheck // says what was checked
	}
	return fmt.Errorf("%w: %w", ErrTemporary, err)
}

func isStale(err error) bool {
	var s *lease.StaleError
	return errors.As(err, &s)
}

// outcome is what an attempt that came to its end means.
func outcome(out Output, r Request) (Response, error) {
	switch out.Status {
	case ExitDone:
		resp, err := ParseResponse(out.Response, r)
		if err == nil && resp.Error != "" {
			err = fmt.Errorf("it exited with 0 and says: %s", resp.Error)
		}
		return resp, err
	case ExitTemporary:
		return Response{}, fmt.Errorf("%w: exit status %d%s", ErrTemporary, out.Status, failureReason(out, r))
	default:
		return Response{}, fmt.Errorf("exit status %d%s", out.Status, failureReason(out, r))
	}
}

// said is why a hook says that it failed: in its response, else in its log.
func failureReason(out Output, r Request) string {
	if resp, err := ParseResponse(out.Response, r); err == nil && resp.Error != "" {
		return ": " + resp.Error
	}
	if n := len(out.Log); n > 0 {
		return ": " + out.Log[n-1]
	}
	return ", and it says nothing"
}
