package accept

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// acquire acquires the Lease of the run in the cluster before the run creates its first
// object; release deletes it after the last. A run without a Lease has no objects, or was
// killed. Later calls return an error if the Lease is lost.
func (x *execution) acquire(ctx context.Context) error {
	x.leasing.Lock()
	defer x.leasing.Unlock()
	if err := x.lostTo(); err != nil {
		return err
	}
	c := x.reached()
	if c == nil {
		return errors.New("cannot acquire the Lease of the run: the cluster is not open")
	}
	if x.renewing != nil {
		h, err := x.readLease(ctx, c, x.run.ID())
		if err == nil {
			err = x.checkHeld(h)
		}
		return x.loseIfTaken(err)
	}
	before, err := x.free(ctx, c, x.run.ID())
	if err == nil {
		err = x.take(ctx, c, before)
	}
	if err != nil {
		return x.loseIfTaken(err)
	}
	x.startRenewing(ctx, c)
	return nil
}

// take writes the Lease in place of the one before, which no process holds.
func (x *execution) take(ctx context.Context, c *kube.Cluster, before *kube.RunLease) error {
	began := x.now()
	return x.repeat(ctx, func(ctx context.Context) error {
		x.renewedAt = x.now()
		err := c.WriteRunLease(ctx, x.run.ID(), before, x.renewed())
		if err == nil {
			return nil
		}
		h, readErr := c.GetRunLease(ctx, x.run.ID())
		switch {
		case readErr != nil || h == nil || before != nil && *h == *before:
			return err
		case h.Holder == x.process.String(): // a request was carried out although it failed
			x.renewedAt = began
			return nil
		default:
			return live(x.run.ID(), *h, x.now())
		}
	})
}

// startRenewing renews the acquired Lease until it is released.
func (x *execution) startRenewing(ctx context.Context, c *kube.Cluster) {
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	x.renewing = func() { stop(); <-done }
	go func() { defer close(done); x.renew(renewing, c) }()
}

func (x *execution) renewed() kube.RunLease {
	// A Lease keeps microseconds.
	return kube.RunLease{Holder: x.process.String(), Renewed: x.now().UTC().Truncate(time.Microsecond), Duration: x.limits.lease()}
}

// The loss of a Lease that another process deleted, or has.
var (
	errRemoved = errors.New("was removed by another process, maybe with its objects")
	errHeld    = errors.New("is held by another process")
)

// checkHeld returns an error if the Lease that this run acquired is no longer its own.
func (x *execution) checkHeld(h *kube.RunLease) error {
	switch {
	case h == nil && x.isCleaning():
		return nil // removed with the namespace of the run
	case h == nil:
		return fmt.Errorf("the Lease of run %s %w", x.run.ID(), errRemoved)
	case h.Holder != x.process.String():
		return live(x.run.ID(), *h, x.now())
	default:
		return nil
	}
}

func (x *execution) isCleaning() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stopCleaning != nil
}

// loseIfTaken ends the execution if the error says that another process has the run.
func (x *execution) loseIfTaken(err error) error {
	if taken(err) {
		x.lost(err)
	}
	return err
}

func taken(err error) bool { return final(err) || errors.Is(err, kube.ErrLeaseConflict) }

// final reports whether the request that failed cannot succeed when it is repeated, since
// another process has the run.
func final(err error) bool {
	_, isLive := errors.AsType[*InputError](err)
	return isLive || errors.Is(err, errRemoved) || errors.Is(err, errHeld)
}

// renew renews the Lease until its context ends or the Lease is lost.
func (x *execution) renew(ctx context.Context, c *kube.Cluster) {
	for {
		interval := x.limits.renewal()
		if x.unrenewed != nil { // the cluster may be back at any time
			interval = repeatInterval
		}
		timer := time.NewTimer(min(interval, x.validFor()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := x.renewOnce(ctx, c); err != nil {
			x.lost(err)
			return
		}
	}
}

// validFor is the time until another process may take over the run: a Lease is valid for its
// duration after the start of its last successful renewal, on the monotonic clock.
func (x *execution) validFor() time.Duration { return x.renewedAt.Add(x.limits.lease()).Sub(x.now()) }

// renewOnce returns an error if the Lease is lost: another process has it, or it expired.
// Failed requests are repeated at the next renewal.
func (x *execution) renewOnce(ctx context.Context, c *kube.Cluster) error {
	started := x.now()
	limited, cancel := context.WithTimeout(ctx, min(x.limits.renewal(), x.validFor()))
	defer cancel()
	h, err := c.GetRunLease(limited, x.run.ID())
	if err == nil {
		if err := x.checkHeld(h); err != nil {
			return err
		}
		if h != nil {
			err = c.WriteRunLease(limited, x.run.ID(), h, x.renewed())
		}
	}
	switch {
	case err == nil:
		x.renewedAt, x.unrenewed = started, nil
	case ctx.Err() != nil:
	case x.validFor() <= 0:
		return fmt.Errorf("the Lease of run %s was not renewed for %s, so another process may remove its objects: %w", x.run.ID(), x.limits.lease(), err)
	case errors.Is(err, kube.ErrLeaseConflict): // the other writer is read the next time
	case x.unrenewed == nil:
		x.unrenewed = err
		x.note("%v; the run ends %s after the last renewal", err, x.limits.lease())
	}
	return nil
}

// readLease reads the Lease of a run and repeats failed requests.
func (x *execution) readLease(ctx context.Context, c *kube.Cluster, run string) (h *kube.RunLease, err error) {
	err = x.repeat(ctx, func(ctx context.Context) error {
		h, err = c.GetRunLease(ctx, run)
		return err
	})
	return h, err
}

// repeatInterval is the time between repeated requests for a Lease.
const repeatInterval = time.Second

// repeat repeats a failed request for the duration of a Lease, unless its repetition cannot
// succeed. After a conflict the request must read the Lease again.
func (x *execution) repeat(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, x.limits.lease())
	defer cancel()
	for {
		err := request(ctx)
		if err == nil || final(err) || !transient(err) || x.lostTo() != nil {
			return err
		}
		if waitErr := x.wait(ctx, repeatInterval); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
}

// transient reports whether a failed request may succeed when it is repeated: the server did
// not respond, or was not able to process it.
func transient(err error) bool {
	switch apierrors.ReasonForError(err) {
	case "", metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonTooManyRequests,
		metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable:
		return true
	default:
		return false
	}
}

// release deletes the Lease if this process still has it. A Lease that could not be deleted is
// still renewed: objects of the run may be left.
func (x *execution) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	x.leasing.Lock()
	defer x.leasing.Unlock()
	if x.renewing == nil {
		return nil
	}
	x.renewing()
	if x.lostTo() != nil {
		x.renewing = nil
		return nil
	}
	c := x.reached()
	err := x.repeat(ctx, func(ctx context.Context) error {
		h, err := c.GetRunLease(ctx, x.run.ID())
		switch {
		case h == nil || err != nil:
			return err
		case h.Holder != x.process.String():
			return fmt.Errorf("the Lease of run %s %w", x.run.ID(), errHeld)
		default:
			return c.DeleteRunLease(ctx, x.run.ID(), *h)
		}
	})
	if x.renewing = nil; err != nil && !taken(err) {
		x.startRenewing(ctx, c)
	}
	return err
}

// stopRenewing ends the renewal of a Lease that could not be released.
func (x *execution) stopRenewing() {
	x.leasing.Lock()
	defer x.leasing.Unlock()
	if x.renewing != nil {
		x.renewing()
	}
}

// releaseTimeout limits the removal of the Lease, which also expires.
const releaseTimeout = 30 * time.Second

// free reads the Lease of a run and returns it if no other process works on the run: its
// objects may be removed. The error of a live run is an InputError.
func (x *execution) free(ctx context.Context, c *kube.Cluster, run string) (*kube.RunLease, error) {
	h, err := x.readLease(ctx, c, run)
	if err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	return x.expired(ctx, c, run, h)
}

// expired returns the Lease of a run if it is missing, or if its holder has ended. If only
// silence can tell, it is watched for the duration of a Lease and read again.
func (x *execution) expired(ctx context.Context, c *kube.Cluster, run string, h *kube.RunLease) (*kube.RunLease, error) {
	if h == nil || h.Holder == x.process.String() || x.silent[run] == *h {
		return h, nil
	}
	if p, ok := processIn(h.Holder); ok && p.ended() {
		return h, nil
	}
	if age := x.now().Sub(h.Renewed).Abs(); age < x.limits.lease() {
		return nil, live(run, *h, x.now())
	}
	// Clocks may differ: only silence that is watched here counts.
	x.note("the Lease of run %s is of %s: watching for %s whether it is renewed", run, h.Renewed.Format(time.RFC3339), x.limits.lease())
	if err := x.wait(ctx, x.limits.lease()); err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	again, err := x.readLease(ctx, c, run)
	if err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	if again != nil && *again != *h {
		return nil, live(run, *again, x.now())
	}
	x.silent[run] = *h
	return again, nil
}

// live is the error for a live run.
func live(run string, h kube.RunLease, now time.Time) error {
	p, _ := processIn(h.Holder)
	return refuse("run %s is live: held by %s pid %d, renewed %s ago; nothing of it was removed. Wait for its end, or use another evidence directory (--evidence)",
		run, p.host, p.pid, now.Sub(h.Renewed).Round(time.Second))
}

// unheld refuses to continue while a run is live. An unavailable cluster is not an error,
// since nothing is removed from it.
func (x *execution) unheld(ctx context.Context, k leftRun) error {
	if x.opts.Cluster == nil {
		return nil // without a Lease, the lock of the evidence decides
	}
	c, err := x.opts.Cluster(ctx)
	if err != nil {
		return ctx.Err()
	}
	c = c.In(k.namespace)
	h, err := c.GetRunLease(ctx, k.id)
	switch {
	case err == nil:
		_, err = x.expired(ctx, c, k.id, h)
	case apierrors.ReasonForError(err) == "":
		return ctx.Err()
	default:
		_, err = x.free(ctx, c, k.id)
	}
	if _, refused := errors.AsType[*InputError](err); refused || apierrors.ReasonForError(err) != "" {
		return err
	}
	return ctx.Err()
}

// leftRun is a killed run with its namespace; empty if the run created its own.
type leftRun struct{ id, namespace string }

// removeLeft removes the objects of killed runs.
func (x *execution) removeLeft(ctx context.Context, c *kube.Cluster) error {
	for _, k := range x.killed {
		in := c.In(k.namespace)
		h, err := x.free(ctx, in, k.id)
		if err != nil {
			return err
		}
		if err := x.removeObjects(ctx, kube.Guest{Cluster: in}, k.id); err != nil {
			return fmt.Errorf("remove the objects of killed run %s: %w", k.id, err)
		}
		if h == nil {
			continue
		}
		err = x.repeat(ctx, func(ctx context.Context) error {
			err := in.DeleteRunLease(ctx, k.id, *h)
			if errors.Is(err, kube.ErrLeaseConflict) {
				return refuse("run %s is live: another process renewed its Lease while its objects were removed", k.id)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("remove the Lease of run %s: %w", k.id, err)
		}
	}
	return nil
}
