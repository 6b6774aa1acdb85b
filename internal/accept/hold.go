package accept

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// hold has this walk's Lease of its run in the cluster: from the first object that the run
// creates until all of them are removed. A run without a Lease has nothing in the cluster, or
// nobody works on it.
func (w *walk) hold(ctx context.Context) error {
	w.holding.Lock()
	defer w.holding.Unlock()
	c := w.reached()
	if c == nil {
		return errors.New("hold the run: the cluster was not reached")
	}
	before, err := c.GetRunLease(ctx, w.run.ID())
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
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
			return err //nolint:wrapcheck // says what it was doing
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

// yield ends the walk: another process works on its run.
func (w *walk) yield(err error) error {
	w.lost(err)
	return err
}

// renew renews the Lease until its context ends, or another process has it.
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

// renewOnce is an error where another process has the Lease. A cluster that does not answer
// is asked again the next time, and a Lease that was removed with all of the run's objects
// comes again with the next of them.
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
		w.note("%v; %s after the last renewal, another walk may take this one for ended and remove its objects", err, w.limits.lease())
	}
	w.unrenewed = failed
	return nil
}

// release gives the Lease back, if the walk still has it.
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
	return w.reached().DeleteRunLease(ctx, w.run.ID(), w.process.String()) //nolint:wrapcheck // says what it was doing
}

// releaseTimeout bounds the removal of a Lease, which ends by itself.
const releaseTimeout = 30 * time.Second

// free says that no other process works on a run: then what the run left may be removed. The
// error of a live one is an InputError.
func (w *walk) free(ctx context.Context, c *kube.Cluster, run string) error {
	h, err := c.GetRunLease(ctx, run)
	if err != nil {
		return fmt.Errorf("see whether run %s is live: %w", run, err)
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
	// Its clock or ours may be wrong: silence counts as far as it was watched.
	w.note("the Lease of run %s is of %s: watching for %s whether it is renewed", run, h.Renewed.Format(time.RFC3339), w.limits.lease())
	if err := w.wait(ctx, w.limits.lease()); err != nil {
		return fmt.Errorf("see whether run %s is live: %w", run, err)
	}
	again, err := c.GetRunLease(ctx, run)
	if err != nil {
		return fmt.Errorf("see whether run %s is live: %w", run, err)
	}
	if again != nil && *again != *h {
		return live(run, *again, w.now())
	}
	w.silent[run] = *h
	return nil
}

// live says that a run is live, and what to do.
func live(run string, h kube.RunLease, now time.Time) error {
	p, _ := processIn(h.Holder)
	return refuse("run %s is live: held by %s pid %d, renewed %s ago; nothing of it was removed. Wait for its end, or use another evidence directory (--evidence)",
		run, p.host, p.pid, now.Sub(h.Renewed).Round(time.Second))
}

// unheld refuses to go on beside a run that is live. A cluster that cannot be reached has
// nothing that could be removed.
func (w *walk) unheld(ctx context.Context, k leftRun) error {
	c, err := w.opts.Cluster(ctx)
	if err != nil {
		return ctx.Err() //nolint:wrapcheck // the context's own
	}
	err = w.free(ctx, c.In(k.namespace), k.id)
	if _, refused := errors.AsType[*InputError](err); refused || apierrors.ReasonForError(err) != "" {
		return err
	}
	return ctx.Err() //nolint:wrapcheck // the context's own
}

// leftRun is a run that was killed, and the namespace that an administrator made for it;
// empty: it made its own.
type leftRun struct{ id, namespace string }

// removeLeft removes what killed runs left in the cluster.
func (w *walk) removeLeft(ctx context.Context, c *kube.Cluster) error {
	for _, k := range w.killed {
		in := c.In(k.namespace)
		if err := w.free(ctx, in, k.id); err != nil {
			return err
		}
		if err := (kube.Guest{Cluster: in}).Cleanup(ctx, k.id); err != nil {
			return fmt.Errorf("remove what run %s left in the cluster when it was killed: %w", k.id, err)
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
