package accept

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// hold acquires the Lease of the run in the cluster before the run creates its first object;
// release deletes it after the last. A run without a Lease has no objects, or was killed.
func (w *walk) hold(ctx context.Context) error {
	w.holding.Lock()
	defer w.holding.Unlock()
	c := w.reached()
	if c == nil {
		return errors.New("cannot hold the run: the cluster is not open")
	}
	before, err := c.GetRunLease(ctx, w.run.ID())
	if err != nil {
		return err
	}
	if before == nil || before.Holder != w.process.String() {
		if err := w.free(ctx, c, w.run.ID()); err != nil {
			return w.yield(err)
		}
		err := c.WriteRunLease(ctx, w.run.ID(), before, w.renewed())
		if errors.Is(err, kube.ErrLeaseConflict) {
			return w.yield(err)
		}
		if err != nil {
			return err
		}
	}
	if w.renewing == nil {
		renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
		done := make(chan struct{})
		w.renewing = func() { stop(); <-done }
		go func() { defer close(done); w.renew(renewing, c) }()
	}
	return nil
}

func (w *walk) renewed() kube.RunLease {
	// A Lease keeps microseconds.
	return kube.RunLease{Holder: w.process.String(), Renewed: w.now().UTC().Truncate(time.Microsecond), Duration: w.limits.lease()}
}

// yield ends the walk because another process took over its run.
func (w *walk) yield(err error) error {
	w.lost(err)
	return err
}

// renew renews the Lease until its context ends or another process has the Lease.
func (w *walk) renew(ctx context.Context, c *kube.Cluster) {
	tick := time.NewTicker(w.limits.renewal())
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.renewOnce(ctx, c); err != nil {
			w.lost(err)
			return
		}
	}
}

// renewOnce returns an error if another process has the Lease. Failed requests are retried
// at the next renewal. A removed Lease is created again with the next object.
func (w *walk) renewOnce(ctx context.Context, c *kube.Cluster) error {
	h, err := c.GetRunLease(ctx, w.run.ID())
	switch {
	case err == nil && h == nil:
		return nil
	case err == nil && h.Holder != w.process.String():
		return live(w.run.ID(), *h, w.now())
	case err == nil:
		err = c.WriteRunLease(ctx, w.run.ID(), h, w.renewed())
	}
	failed := err != nil && ctx.Err() == nil && !errors.Is(err, kube.ErrLeaseConflict) // one written meanwhile is read the next time
	if failed && !w.unrenewed {
		w.note("%v; %s after the last renewal, another walk may consider this one dead and remove its objects", err, w.limits.lease())
	}
	w.unrenewed = failed
	return nil
}

// release deletes the Lease if the walk still has it.
func (w *walk) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	w.holding.Lock()
	defer w.holding.Unlock()
	if w.renewing == nil {
		return nil
	}
	w.renewing()
	w.renewing = nil
	if w.lostTo() != nil {
		return nil
	}
	return w.reached().DeleteRunLease(ctx, w.run.ID(), w.process.String())
}

// releaseTimeout limits the removal of the Lease, which also expires.
const releaseTimeout = 30 * time.Second

// free returns nil if no other process works on a run: its objects may be removed. The error
// of a live run is an InputError.
func (w *walk) free(ctx context.Context, c *kube.Cluster, run string) error {
	h, err := c.GetRunLease(ctx, run)
	if err != nil {
		return fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	if h == nil || h.Holder == w.process.String() || w.silent[run] == *h {
		return nil
	}
	if p, ok := processIn(h.Holder); ok && p.ended() {
		return nil
	}
	if age := w.now().Sub(h.Renewed).Abs(); age < w.limits.lease() {
		return live(run, *h, w.now())
	}
	// Clocks may differ: only silence that is watched here counts.
	w.note("the Lease of run %s is of %s: watching for %s whether it is renewed", run, h.Renewed.Format(time.RFC3339), w.limits.lease())
	if err := w.wait(ctx, w.limits.lease()); err != nil {
		return fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	again, err := c.GetRunLease(ctx, run)
	if err != nil {
		return fmt.Errorf("cannot tell whether run %s is live: %w", run, err)
	}
	if again != nil && *again != *h {
		return live(run, *again, w.now())
	}
	w.silent[run] = *h
	return nil
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
	err = w.free(ctx, c.In(k.namespace), k.id)
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
		if err := w.free(ctx, in, k.id); err != nil {
			return err
		}
		if err := (kube.Guest{Cluster: in}).Cleanup(ctx, k.id); err != nil {
			return fmt.Errorf("remove the objects of killed run %s: %w", k.id, err)
		}
		h, err := in.GetRunLease(ctx, k.id)
		if err == nil && h != nil {
			err = in.DeleteRunLease(ctx, k.id, h.Holder)
		}
		if err != nil {
			return fmt.Errorf("remove the Lease of run %s: %w", k.id, err)
		}
	}
	return nil
}
