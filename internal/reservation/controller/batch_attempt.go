package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/clock"
	"github.com/firstlight/firstlight/internal/reservation/hook"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

var (
	errLeftover       = errors.New("a leftover deployment exists")
	errCannotDiscover = errors.New("cannot list existing deployments")
)

// maxDisrupted is the attempt of a cell from which a hook that the cluster cut off fails the cell, so that the
// later cells get their turn.
const maxDisrupted = 3

// attempt runs a cell under a lease. The cell may be pending afterwards; then it is started again.
func (r *legRun) attempt(ctx context.Context, c *matrix.Cell, g broker.Grant) error {
	err := WithLease(ctx, r.opts.Broker, g, func(ctx context.Context, l hook.Lease) error {
		if err := r.guard(ctx, c, l); err != nil {
			return err
		}
		return r.test(ctx, c, l)
	})
	switch {
	case ctx.Err() != nil && !isWindowOver(ctx):
		// The work has ended, and the cells stay as recorded.
		return errors.Join(context.Cause(ctx), r.release(ctx, g.Token, "its controller stopped"))
	case errors.Is(err, errLeftover): // Quarantine has ended the lease
		return r.blocked(ctx, c, r.waitReason)
	case errors.Is(err, errCellMustWait):
		return r.releaseAndClean(ctx, g.Token, "no time left to start "+c.Name())
	case err == nil:
		r.queueNext(ctx)
		return r.releaseAndClean(ctx, g.Token, fmt.Sprintf("%s is %s", c.Name(), c.Outcome))
	case errors.As(err, new(*recordError)):
		return errors.Join(err, r.release(ctx, g.Token, err.Error()))
	case broker.IsLost(err) || errors.Is(err, broker.ErrRenewFailed):
		return r.recordLost(ctx, c, err)
	default: // the state of the cloud is unknown
		return errors.Join(r.blocked(ctx, c, err.Error()), r.releaseAndClean(ctx, g.Token, err.Error()), r.pause(ctx))
	}
}

// guard checks under the lease that no deployment exists.
func (r *legRun) guard(ctx context.Context, c *matrix.Cell, l hook.Lease) error {
	if !r.opts.Clock.Now().Before(r.Cutoff) {
		return errCellMustWait
	}
	found, err := r.opts.Hooks.Discover(ctx, r.Row.Cloud, &r.Row, l)
	if err != nil {
		return fmt.Errorf("%w before %s: %w", errCannotDiscover, c.Name(), err)
	}
	if len(found) == 0 {
		return nil
	}
	culprit := DescribeLeftover(found)
	if err := r.opts.Broker.Quarantine(ctx, r.Row.Name, l.Token, culprit); err != nil {
		return err
	}
	r.waitReason = lease.NeedsOperator(culprit, r.Row.Name)
	return errLeftover
}

// blocked records why a cell could not start. The reason of a lost attempt takes precedence.
func (r *legRun) blocked(ctx context.Context, c *matrix.Cell, reason string) error {
	r.waitReason = reason
	r.log.WarnContext(ctx, "cell is blocked", "cell", c.Name(), "why", reason)
	if c.Attempts == 0 || c.Outcome == matrix.Running {
		c.Outcome, c.Reason = matrix.Pending, reason
	}
	return r.record(ctx)
}

// pause waits before the cloud is listed again.
func (r *legRun) pause(ctx context.Context) error {
	open, end := r.openWindow(ctx)
	defer end(nil)
	next := r.opts.Clock.Now().Add(r.opts.RetryInterval)
	if next.After(r.Cutoff) {
		next = r.Cutoff
	}
	defer r.Waiting(next)()
	_ = r.opts.Clock.Until(open, next) // the caller checks why it ended
	if ctx.Err() != nil && !isWindowOver(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// test provisions and tests the deployment of a cell. Its result counts only while the lease is
// held.
func (r *legRun) test(ctx context.Context, c *matrix.Cell, l hook.Lease) error {
	begun := r.opts.Clock.Now()
	c.Outcome, c.Attempts, c.Token, c.Deployment = matrix.Running, c.Attempts+1, l.Token, hook.NameOf("night", r.Row.Slug, l.Token)
	c.Started, c.Ended, c.Checks, c.Evidence, c.Reason = r.stamp(), nil, 0, "", ""
	if err := r.record(ctx); err != nil {
		return err
	}
	r.log.InfoContext(ctx, "cell started", "cell", c.Name(), "deployment", c.Deployment, "token", c.Token, "attempt", c.Attempts)
	bounded, cancel := clock.WithDeadline(ctx, r.opts.Clock, begun.Add(r.Limit))
	defer cancel()
	result, err := r.steps(bounded, *c, l)
	var outcome matrix.Outcome
	var reason string
	switch {
	case err == nil:
		outcome, reason = judgeTest(result)
	case isWindowOver(bounded):
		outcome, reason = matrix.TimedOut, fmt.Sprintf("timeout after %s: %v", r.Limit, err)
	case ctx.Err() != nil:
		return errors.Join(context.Cause(ctx), err)
	case broker.IsLost(err), errors.Is(err, hook.ErrDisrupted) && c.Attempts < maxDisrupted: // a hook was refused, or cut off
		return err
	default:
		outcome, reason = matrix.Failed, withResult(result, err)
	}
	if err := r.checkLease(ctx, l); err != nil {
		return err
	}
	c.Outcome, c.Reason, c.Checks, c.Evidence, c.Ended = outcome, reason, result.Checks, result.Evidence, r.stamp()
	r.log.InfoContext(ctx, "cell ended", "cell", c.Name(), "outcome", c.Outcome, "checks", c.Checks, "why", c.Reason, "took", r.opts.Clock.Now().Sub(begun).Round(time.Second).String())
	return r.record(ctx)
}

// checkLease checks that the lease is still held.
func (r *legRun) checkLease(ctx context.Context, l hook.Lease) error {
	if isWindowOver(ctx) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
		defer cancel()
		ctx = detached
	}
	err := retryTransient(ctx, func() error { return r.opts.Broker.Check(ctx, r.Row.Name, l.Token) })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (r *legRun) steps(ctx context.Context, c matrix.Cell, l hook.Lease) (hook.Result, error) {
	if r.opts.CanProvision != nil {
		if err := r.opts.CanProvision(r.Row); err != nil {
			return hook.Result{}, err
		}
	}
	if _, err := r.opts.Hooks.Provision(ctx, r.Row, c.Intent, c.Deployment, l); err != nil {
		return hook.Result{}, err
	}
	if err := r.opts.Ready(ctx, r.Row, c.Deployment, l); err != nil {
		return hook.Result{}, fmt.Errorf("deployment %s is not ready: %w", c.Deployment, err)
	}
	return r.opts.Hooks.Test(ctx, r.Row, c.Version, c.Intent, c.Deployment, l)
}

// judgeTest maps the result of a test. Only a pass with checks is a pass.
func judgeTest(r hook.Result) (outcome matrix.Outcome, reason string) {
	switch {
	case r.Verdict == hook.Passed && r.Checks > 0:
		return matrix.Passed, ""
	case r.Verdict == hook.Passed:
		return matrix.Failed, "the test passed without checks"
	case r.Verdict == hook.Failed:
		return matrix.Failed, cmp.Or(r.Reason, "the test gives no reason")
	case r.Verdict == hook.Unobserved:
		return matrix.Failed, "unobserved: " + cmp.Or(r.Reason, "the test gives no reason")
	default:
		return matrix.Failed, fmt.Sprintf("the test returned an unknown verdict %q", r.Verdict)
	}
}

// withResult adds to an error the result that the test gave nevertheless.
func withResult(r hook.Result, err error) string {
	if r.Verdict == "" {
		return err.Error()
	}
	if _, reason := judgeTest(r); reason != "" {
		return reason + "; " + err.Error()
	}
	return fmt.Sprintf("%s, but: %s", r.Verdict, err)
}

// recordLost resets a cell whose lease was lost.
func (r *legRun) recordLost(ctx context.Context, c *matrix.Cell, err error) error {
	r.log.WarnContext(ctx, "lease lost", "cell", c.Name(), "why", err)
	if c.Outcome == matrix.Running {
		c.Outcome, c.Reason = matrix.Pending, "lease lost: "+err.Error()
	}
	return r.record(ctx)
}

// release ends a lease; a lost lease has ended already.
func (r *legRun) release(ctx context.Context, token int64, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.opts.RenewInterval)
	defer cancel()
	if err := r.opts.Broker.ReleaseDirty(ctx, r.Row.Name, token, reason); err != nil && !broker.IsLost(err) {
		return err
	}
	return nil
}

// releaseAndClean releases a reservation and cleans it. If cleaning fails it stays dirty for the
// sweep, and the next cell waits.
func (r *legRun) releaseAndClean(ctx context.Context, token int64, reason string) error {
	if err := r.release(ctx, token, reason); err != nil {
		r.log.WarnContext(ctx, "lease not released, it will expire", "token", token, "why", err)
		return nil
	}
	return r.clean(ctx)
}

// clean cleans the reservation.
func (r *legRun) clean(ctx context.Context) error {
	out, err := r.opts.Clean(ctx, r.Row, r.Holder(), false)
	if err != nil {
		out = out.fail(err)
	}
	if out.Result == ResultFailed || out.Result == ResultBlocked {
		r.log.WarnContext(ctx, "teardown failed", "result", out.Result, "why", out.Reason)
	}
	if ctx.Err() != nil && !isWindowOver(ctx) {
		return context.Cause(ctx)
	}
	return nil
}
