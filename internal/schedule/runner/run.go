package runner

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// run runs one scenario.
type run struct {
	client    kubernetes.Interface
	layout    *layout
	view      *view
	progress  func(string)
	idleTimer *idleTimer

	ownNodes []*ownNode
	// last is the newest node update.
	last     nodeVersion
	barriers int
}

// nodeVersion is a node at one round.
type nodeVersion struct {
	node, round string
	version     uint64
}

// notConvergedError is the pending change of a scenario that did not converge in time.
type notConvergedError struct{ reason string }

func (e notConvergedError) Error() string { return e.reason }

func newRun(a *Runner, l *layout, progress func(string)) *run {
	return &run{client: a.client, layout: l, view: newView(l), progress: progress, idleTimer: newIdleTimer(a.clock, a.idleTimer)}
}

// run returns the snapshot of the scenario. A scenario that does not converge has one, too.
func (r *run) run(ctx context.Context) (snapshot.State, error) {
	defer r.idleTimer.timer.Stop()
	state, err := r.converge(ctx)
	if restless, ok := errors.AsType[notConvergedError](err); ok {
		p, version, err := r.list(ctx)
		if err != nil {
			return snapshot.State{}, err
		}
		out := r.layout.state(p, version)
		out.NotConverged = restless.reason
		return out, nil
	}
	return state, err
}

func (r *run) converge(ctx context.Context) (snapshot.State, error) {
	if err := r.createAll(ctx); err != nil {
		return snapshot.State{}, err
	}
	r.progress(fmt.Sprintf("%d workloads on %d nodes", len(r.layout.components), len(r.layout.scenario.Nodes)))
	if err := r.waitFor(ctx, func(p *objectSet) pending { return r.layout.pending(p, r.layout.components) }); err != nil {
		return snapshot.State{}, err
	}
	r.progress("the components have converged")
	own := append(r.layout.components[:len(r.layout.components):len(r.layout.components)], r.layout.probe)
	if err := r.create(ctx, r.layout.probe); err != nil {
		return snapshot.State{}, err
	}
	if err := r.stabilize(ctx, own); err != nil {
		return snapshot.State{}, err
	}
	retried, err := r.retryUnschedulable(ctx, own)
	if err != nil {
		return snapshot.State{}, err
	}
	if retried {
		r.progress("retrying unschedulable pods")
		if err := r.stabilize(ctx, own); err != nil {
			return snapshot.State{}, err
		}
	}
	return r.runControls(ctx, own)
}

// runControls adds the controls to the converged workloads and returns one consistent
// snapshot of all. Controls update no node, so the barrier still holds: the scheduler
// evaluates the controls with the current nodes.
func (r *run) runControls(ctx context.Context, workloads []*workload) (snapshot.State, error) {
	r.progress("controls")
	// A gang that fits in part keeps the scheduler busy while it exists: it comes last.
	for _, gang := range []bool{false, true} {
		var some []*workload
		for _, w := range r.layout.controls {
			if w.gang == gang {
				some = append(some, w)
			}
		}
		if err := r.create(ctx, some...); err != nil {
			return snapshot.State{}, err
		}
		workloads = append(workloads, some...)
		if err := r.waitFor(ctx, func(p *objectSet) pending { return r.pending(p, workloads) }); err != nil {
			return snapshot.State{}, err
		}
	}
	for {
		p, version, err := r.list(ctx)
		if err != nil {
			return snapshot.State{}, err
		}
		if r.pending(p, workloads).over() {
			out := r.layout.state(p, version)
			out.Converged = true
			return out, nil
		}
		// A change began between the last check and the list: wait for its events.
		if err := r.stabilize(ctx, workloads); err != nil {
			return snapshot.State{}, err
		}
	}
}

// stabilize returns once the workloads have converged and nothing changed while a barrier
// passed the queues.
func (r *run) stabilize(ctx context.Context, workloads []*workload) error {
	for {
		var version int
		if err := r.waitFor(ctx, func(p *objectSet) pending {
			version = p.version
			return r.pending(p, workloads)
		}); err != nil {
			return err
		}
		w, err := r.newBarrier(ctx)
		if err != nil {
			return err
		}
		var moved bool
		if err := r.waitFor(ctx, func(p *objectSet) pending {
			if moved = p.version != version; moved {
				return pending{}
			}
			return r.layout.pendingBarrier(p, w)
		}); err != nil {
			return err
		}
		if !moved {
			return nil
		}
	}
}

// waitFor returns once no change is expected. It applies discovery to the nodes meanwhile.
func (r *run) waitFor(ctx context.Context, read func(*objectSet) pending) error {
	for {
		if err := r.applyDiscovery(ctx); err != nil {
			return err
		}
		var left pending
		r.view.read(func(p *objectSet) { left = read(p) })
		if left.over() {
			return nil
		}
		if left.reason == "" {
			// All else has converged: check whether the API server would reject the pods.
			if err := r.checkAdmission(ctx, left.incomplete); err != nil {
				return err
			}
		}
		select {
		case <-r.view.changed:
			r.idleTimer.reset()
		case <-r.idleTimer.timer.C():
			if r.idleTimer.over() {
				return notConvergedError{left.String()}
			}
		case <-ctx.Done():
			return fmt.Errorf("wait (%s): %w", left, context.Cause(ctx))
		}
	}
}

// pending returns the expected changes of workloads and nodes.
func (r *run) pending(p *objectSet, workloads []*workload) pending {
	for _, m := range r.ownNodes {
		if p.nodes[m.nodeVersion.Name].version != m.nodeVersion.ResourceVersion {
			return pending{reason: fmt.Sprintf("node %s: its newest version is not observed yet", m.node.Name)}
		}
		if r.layout.nextVersion(p, m) != nil {
			return pending{reason: fmt.Sprintf("node %s: discovery is not applied yet", m.node.Name)}
		}
	}
	return r.layout.pending(p, workloads)
}
