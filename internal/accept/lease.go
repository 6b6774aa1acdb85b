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
func (w *walk) acquire(ctx context.Context) error {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	if err := w.lostTo(); err != nil {
		return err
	}
	c := w.reached()
	if c == nil {
		return errors.New("cannot acquire the Lease of the run: the cluster is not open")
	}
	if w.renewing != nil {
		h, err := w.readLease(ctx, c, w.run.ID())
		if err == nil {
			err = w.checkHeld(h)
		}
		return w.loseIfTaken(err)
	}
	before, err := w.free(ctx, c, w.run.ID())
	if err == nil {
		err = w.take(ctx, c, before)
	}
	if err != nil {
		return w.loseIfTaken(err)
	}
	w.startRenewing(ctx, c)
	return nil
}

// take writes the Lease in place of the one before, which no process holds.
func (w *walk) take(ctx context.Context, c *kube.Cluster, before *kube.RunLease) error {
	began := w.now()
	return w.repeat(ctx, func(ctx context.Context) error {
		w.renewedAt = w.now()
		err := c.WriteRunLease(ctx, w.run.ID(), before, w.renewed())
		if err == nil {
			return nil
		}
		h, readErr := c.GetRunLease(ctx, w.run.ID())
		switch {
		case readErr != nil || h == nil || before != nil && *h == *before:
			return err
		case h.Holder == w.process.String(): // a request was carried out although it failed
			w.renewedAt = began
			return nil
		default:
			return live(w.run.ID(), *h, w.now())
		}
	})
}

// startRenewing renews the acquired Lease until it is released.
func (w *walk) startRenewing(ctx context.Context, c *kube.Cluster) {
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	w.renewing = func() { stop(); <-done }
	go func() { defer close(done); w.renew(renewing, c) }()
}

func (w *walk) renewed() kube.RunLease {
	// A Lease keeps microseconds.
	return kube.RunLease{Holder: w.process.String(), Renewed: w.now().UTC().Truncate(time.Microsecond), Duration: w.limits.lease()}
}

// The loss of a Lease that another process deleted, or has.
var (
	errRemoved = errors.New("was removed by another process, maybe with its objects")
	errHeld    = errors.New("is held by another process")
)

// checkHeld returns an error if the Lease that this run acquired is no longer its own.
func (w *walk) checkHeld(h *kube.RunLease) error {
	switch {
	case h == nil && w.isCleaning():
		return nil // removed with the namespace of the run
	case h == nil:
		return fmt.Errorf("the Lease of run %s %w", w.run.ID(), errRemoved)
	case h.Holder != w.process.String():
		return live(w.run.ID(), *h, w.now())
	default:
		return nil
	}
}

func (w *walk) isCleaning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopCleaning != nil
}

// loseIfTaken ends the walk if the error says that another process has the run.
func (w *walk) loseIfTaken(err error) error {
	if taken(err) {
		w.lost(err)
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
func (w *walk) renew(ctx context.Context, c *kube.Cluster) {
	for {
		interval := w.limits.renewal()
		if w.unrenewed != nil { // the cluster may be back at any time
			interval = repeatInterval
		}
		timer := time.NewTimer(min(interval, w.validFor()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		if err := w.renewOnce(ctx, c); err != nil {
			w.lost(err)
			return
		}
	}
}

// validFor is the time until another process may take over the run: a Lease is valid for its
// duration after the start of its last successful renewal, on the monotonic clock.
func (w *walk) validFor() time.Duration { return w.renewedAt.Add(w.limits.lease()).Sub(w.now()) }

// renewOnce returns an error if the Lease is lost: another process has it, or it expired.
// Failed requests are repeated at the next renewal.
func (w *walk) renewOnce(ctx context.Context, c *kube.Cluster) error {
	started := w.now()
	limited, cancel := context.WithTimeout(ctx, min(w.limits.renewal(), w.validFor()))
	defer cancel()
	h, err := c.GetRunLease(limited, w.run.ID())
	if err == nil {
		if err := w.checkHeld(h); err != nil {
			return err
		}
		if h != nil {
			err = c.WriteRunLease(limited, w.run.ID(), h, w.renewed())
		}
	}
	switch {
	case err == nil:
		w.renewedAt, w.unrenewed = started, nil
	case ctx.Err() != nil:
	case w.validFor() <= 0:
		return fmt.Errorf("the Lease of run %s was not renewed for %s, so another process may remove its objects: %w", w.run.ID(), w.limits.lease(), err)
	case errors.Is(err, kube.ErrLeaseConflict): // the other writer is read the next time
	case w.unrenewed == nil:
		w.unrenewed = err
		w.note("%v; the run ends %s after the last renewal", err, w.limits.lease())
	}
	return nil
}

// readLease reads the Lease of a run and repeats failed requests.
func (w *walk) readLease(ctx context.Context, c *kube.Cluster, run string) (h *kube.RunLease, err error) {
	err = w.repeat(ctx, func(ctx context.Context) error {
		h, err = c.GetRunLease(ctx, run)
		return err
	})
	return h, err
}

// repeatInterval is the time between repeated requests for a Lease.
const repeatInterval = time.Second

// repeat repeats a failed request for the duration of a Lease, unless its repetition cannot
// succeed. After a conflict the request must read the Lease again.
func (w *walk) repeat(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, w.limits.lease())
	defer cancel()
	for {
		err := request(ctx)
		if err == nil || final(err) || !transient(err) || w.lostTo() != nil {
			return err
		}
		if waitErr := w.wait(ctx, repeatInterval); waitErr != nil {
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

// release deletes the Lease if the walk still has it. A Lease that could not be deleted is
// still renewed: objects of the run may be left.
func (w *walk) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	w.leasing.Lock()
	defer w.leasing.Unlock()
	if w.renewing == nil {
		return nil
	}
	w.renewing()
	if w.lostTo() != nil {
		w.renewing = nil
		return nil
	}
	c := w.reached()
	err := w.repeat(ctx, func(ctx context.Context) error {
		h, err := c.GetRunLease(ctx, w.run.ID())
		switch {
		case h == nil || err != nil:
			return err
		case h.Holder != w.process.String():
			return fmt.Errorf("the Lease of run %s %w", w.run.ID(), errHeld)
		default:
			return c.DeleteRunLease(ctx, w.run.ID(), *h)
		}
	})
	if w.renewing = nil; err != nil && !taken(err) {
		w.startRenewing(ctx, c)
	}
	return err
}

// stopRenewing ends the renewal of a Lease that could not be released.
func (w *walk) stopRenewing() {
	w.leasing.Lock()
	defer w.leasing.Unlock()
	if w.renewing != nil {
		w.renewing()
	}
}

// releaseTimeout limits the removal of the Lease, which also expires.
const releaseTimeout = 30 * time.Second

// free reads the Lease of a run and returns it if no other process works on the run: its
// objects may be removed. The error of a live run is an InputError.
func (w *walk) free(ctx context.Context, c *kube.Cluster, run string) (*kube.RunLease, error) {
	h, err := w.readLease(ctx, c, run)
	if err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	return w.expired(ctx, c, run, h)
}

// expired returns the Lease of a run if it is missing, or if its holder has ended. If only
// silence can tell, it is watched for the duration of a Lease and read again.
func (w *walk) expired(ctx context.Context, c *kube.Cluster, run string, h *kube.RunLease) (*kube.RunLease, error) {
	if h == nil || h.Holder == w.process.String() || w.silent[run] == *h {
		return h, nil
	}
	if p, ok := processIn(h.Holder); ok && p.ended() {
		return h, nil
	}
	if age := w.now().Sub(h.Renewed).Abs(); age < w.limits.lease() {
		return nil, live(run, *h, w.now())
	}
	// Clocks may differ: only silence that is watched here counts.
	w.note("the Lease of run %s is of %s: watching for %s whether it is renewed", run, h.Renewed.Format(time.RFC3339), w.limits.lease())
	if err := w.wait(ctx, w.limits.lease()); err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	again, err := w.readLease(ctx, c, run)
	if err != nil {
		return nil, fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	if again != nil && *again != *h {
		return nil, live(run, *again, w.now())
	}
	w.silent[run] = *h
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
func (w *walk) unheld(ctx context.Context, k leftRun) error {
	c, err := w.opts.Cluster(ctx)
	if err != nil {
		return ctx.Err()
	}
	c = c.In(k.namespace)
	h, err := c.GetRunLease(ctx, k.id)
	switch {
	case err == nil:
		_, err = w.expired(ctx, c, k.id, h)
	case apierrors.ReasonForError(err) == "":
		return ctx.Err()
	default:
		_, err = w.free(ctx, c, k.id)
	}
	if _, refused := errors.AsType[*InputError](err); refused || apierrors.ReasonForError(err) != "" {
		return err
	}
	return ctx.Err()
}

// leftRun is a killed run with its namespace; empty if the run created its own.
type leftRun struct{ id, namespace string }

// removeLeft removes the objects of killed runs.
func (w *walk) removeLeft(ctx context.Context, c *kube.Cluster) error {
	for _, k := range w.killed {
		in := c.In(k.namespace)
		h, err := w.free(ctx, in, k.id)
		if err != nil {
			return err
		}
		if err := w.withoutUnlisted(k.id, kube.Guest{Cluster: in}.Cleanup(ctx, k.id)); err != nil {
			return fmt.Errorf("remove the objects of killed run %s: %w", k.id, err)
		}
		if h == nil {
			continue
		}
		err = w.repeat(ctx, func(ctx context.Context) error {
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
