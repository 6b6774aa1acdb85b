package runner

import (
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

// Options of an arena.
type Options struct {
	// Clock is time; nil means the real one.
	Clock clock.Clock
	// Patience is how long nothing of a cell may change before it has come to rest
	// (3 minutes); it may take ten times as long while something changes.
	Patience time.Duration
}

// usualPatience is that of a cell where the options have none: a thousand times what
// passes between two changes on a busy machine.
const usualPatience = 3 * time.Minute

// Arena is a control plane that cells are put on. There is one to a control plane.
type Arena struct {
	client   kubernetes.Interface
	clock    clock.Clock
	patience time.Duration

	count atomic.Int64
	watch *watches
	// away are the cells that are being taken away; gone ends them.
	away sync.WaitGroup
	gone context.Context //nolint:containedctx // ends what goes on after Run has returned
	end  context.CancelFunc
}

// Open begins to watch a control plane, and returns when it has seen what is there.
func Open(ctx context.Context, config *rest.Config, o Options) (*Arena, error) {
	client, err := kubernetes.NewForConfig(unbraked(config))
	if err != nil {
		return nil, fmt.Errorf("reach the control plane: %w", err)
	}
	a := &Arena{client: client, clock: o.Clock, patience: o.Patience}
	if a.clock == nil {
		a.clock = clock.RealClock{}
	}
	if a.patience == 0 {
		a.patience = usualPatience
	}
	a.gone, a.end = context.WithCancel(context.WithoutCancel(ctx))
	if a.watch, err = watch(ctx, client); err != nil {
		a.end()
		return nil, err
	}
	return a, nil
}

// unbraked is a client's configuration without limits of its own, speaking the API's
// binary form, which costs both sides least.
func unbraked(config *rest.Config) *rest.Config {
	out := rest.CopyConfig(config)
	out.QPS, out.Burst = -1, 0
	out.RateLimiter = nil
	// What the API server warns of is for those who write manifests, not for this process' stderr.
	out.WarningHandler, out.WarningHandlerWithContext = rest.NoWarnings{}, nil
	out.ContentType = runtime.ContentTypeProtobuf
	out.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	return out
}

// Run puts a cell on the control plane and returns what came of it when it is at
// rest, with its controls. It may be called from many goroutines. The error is for
// what kept it from being seen.
func (a *Arena) Run(ctx context.Context, c scenario.Scenario, progress func(string)) (snapshot.State, error) {
	if progress == nil {
		progress = func(string) {}
	}
	l := newLayout(idOf(a.count.Add(1)), c)
	r := newRun(a, l, progress)
	a.watch.add(r.view)
	defer a.watch.remove(l.id)
	state, err := r.run(ctx)
	a.away.Go(func() { clean(a.gone, a.client, l, r.view) })
	if err != nil {
		return snapshot.State{}, fmt.Errorf("cell %s: %w", l.id, err)
	}
	return state, nil
}

// Close ends the watches, and the taking away of cells where it is still going on:
// who closes an arena throws the control plane away.
func (a *Arena) Close() {
	a.end()
	a.away.Wait()
	a.watch.close()
}
