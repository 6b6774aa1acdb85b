package runner

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/schedule/scenario"
	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// Options of a Runner.
type Options struct {
	// Clock defaults to the real clock.
	Clock clock.Clock
	// IdleTimeout is the longest time without a change before a scenario counts as not
	// converged (default 3 minutes). The limit is ten times as long while it changes.
	IdleTimeout time.Duration
}

// defaultIdleTimeout is a thousand times the interval between two changes on a busy
// machine.
const defaultIdleTimeout = 3 * time.Minute

// Runner runs scenarios on one control plane.
type Runner struct {
	client    kubernetes.Interface
	clock     clock.Clock
	idleTimer time.Duration

	count atomic.Int64
	watch *watches
	// cleanups are the running clean-ups; cleanupCtx cancels them.
	cleanups    sync.WaitGroup
	cleanupCtx  context.Context //nolint:containedctx // bounds the clean-ups that continue after Run has returned
	stopCleanup context.CancelFunc
}

// Start watches a control plane and returns once its caches have synced.
func Start(ctx context.Context, config *rest.Config, o Options) (*Runner, error) {
	client, err := kubernetes.NewForConfig(unthrottled(config))
	if err != nil {
		return nil, fmt.Errorf("reach the control plane: %w", err)
	}
	a := &Runner{client: client, clock: o.Clock, idleTimer: o.IdleTimeout}
	a.clock = cmp.Or[clock.Clock](a.clock, clock.RealClock{})
	a.idleTimer = cmp.Or(a.idleTimer, defaultIdleTimeout)
	a.cleanupCtx, a.stopCleanup = context.WithCancel(context.WithoutCancel(ctx))
	if a.watch, err = watch(ctx, client); err != nil {
		a.stopCleanup()
		return nil, err
	}
	return a, nil
}

// unthrottled returns the configuration without client-side rate limits and with the
// protobuf encoding, which is cheapest for both sides.
func unthrottled(config *rest.Config) *rest.Config {
	out := rest.CopyConfig(config)
	out.QPS, out.Burst = -1, 0
	out.RateLimiter = nil
	// Warnings of the API server are for authors of manifests.
	out.WarningHandler, out.WarningHandlerWithContext = rest.NoWarnings{}, nil
	out.ContentType = runtime.ContentTypeProtobuf
	out.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return out
}

// Run applies a scenario, waits until it and its controls have converged, and returns the
// snapshot. It is safe for concurrent use. The error reports a failure to observe.
func (a *Runner) Run(ctx context.Context, c scenario.Scenario, progress func(string)) (snapshot.State, error) {
	if progress == nil {
		progress = func(string) {}
	}
	l := newLayout(idOf(a.count.Add(1)), c)
	r := newRun(a, l, progress)
	a.watch.add(r.view)
	defer a.watch.remove(l.id)
	state, err := r.run(ctx)
	a.cleanups.Go(func() { clean(a.cleanupCtx, a.client, l, r.view) })
	if err != nil {
		return snapshot.State{}, fmt.Errorf("scenario %s: %w", l.id, err)
	}
	return state, nil
}

// Close stops the watches and unfinished clean-ups: the control plane is discarded.
func (a *Runner) Close() {
	a.stopCleanup()
	a.cleanups.Wait()
	a.watch.close()
}
