package runner

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/schedule/snapshot"
)

// run is one cell on its way.
type run struct {
	client   kubernetes.Interface
	layout   *layout
	view     *view
	progress func(string)
	patience *patience

	machines []*machine
	// last is the node that was written last, with its turn.
	last     written
	barriers int
}

// written is a node at one of its turns.
type written struct {
	node, turn string
	version    uint64
}

// restlessError says what kept a cell from coming to rest in time.
type restlessError struct{ why string }

func (e restlessError) Error() string { return e.why }

func newRun(a *Arena, l *layout, progress func(string)) *run {
	return &run{client: a.client, layout: l, view: newView(l), progress: progress, patience: newPatience(a.clock, a.patience)}
}

// run takes the cell from its nodes to its state. One that does not come to rest
// has a state, too, which says so.
func (r *run) run(ctx context.Context) (snapshot.State, error) {
	defer r.patience.timer.Stop()
	state, err := r.settled(ctx)
	if restless, ok := errors.AsType[restlessError](err); ok {
		p, version, err := r.list(ctx)
		if err != nil {
			return snapshot.State{}, err
		}
		out := r.layout.state(p, version)
		out.NotConverged = restless.why
		return out, nil
	}
	return state, err
}

func (r *run) settled(ctx context.Context) (snapshot.State, error) {
	if err := r.build(ctx); err != nil {
		return snapshot.State{}, err
	}
	r.progress(fmt.Sprintf("%d workloads on %d nodes", len(r.layout.components), len(r.layout.scenario.Nodes)))
	if err := r.until(ctx, func(p *picture) unrest { return r.layout.unrest(p, r.layout.components) }); err != nil {
		return snapshot.State{}, err
	}
	r.progress("the components are at rest")
	own := append(r.layout.components[:len(r.layout.components):len(r.layout.components)], r.layout.probe)
	if err := r.create(ctx, r.layout.probe); err != nil {
		return snapshot.State{}, err
	}
	if err := r.settle(ctx, own); err != nil {
		return snapshot.State{}, err
	}
	asked, err := r.askAgain(ctx, own)
	if err != nil {
		return snapshot.State{}, err
	}
	if asked {
		r.progress("refused pods are asked for again")
		if err := r.settle(ctx, own); err != nil {
			return snapshot.State{}, err
		}
	}
	return r.controlled(ctx, own)
}

// controlled puts the controls beside workloads that are at rest and returns the
// state of all, in one consistent picture. Controls change no node, so what the
// barrier has shown still holds: every controller and the scheduler know the nodes
// as they are, and what the scheduler says of a control is an answer to them.
func (r *run) controlled(ctx context.Context, works []*work) (snapshot.State, error) {
	r.progress("controls")
	// A gang of which some would fit keeps the scheduler busy for as long as it is
	// there: it comes last.
	for _, gang := range []bool{false, true} {
		var some []*work
		for _, w := range r.layout.controls {
			if w.gang == gang {
				some = append(some, w)
			}
		}
		if err := r.create(ctx, some...); err != nil {
			return snapshot.State{}, err
		}
		works = append(works, some...)
		if err := r.until(ctx, func(p *picture) unrest { return r.unrest(p, works) }); err != nil {
			return snapshot.State{}, err
		}
	}
	for {
		p, version, err := r.list(ctx)
		if err != nil {
			return snapshot.State{}, err
		}
		if r.unrest(p, works).over() {
			out := r.layout.state(p, version)
			out.Converged = true
			return out, nil
		}
		// Something began between the last look and the list: the watches will tell.
		if err := r.settle(ctx, works); err != nil {
			return snapshot.State{}, err
		}
	}
}

// settle returns when the workloads are at rest, and nothing changed while a barrier
// went behind all that came before it.
func (r *run) settle(ctx context.Context, works []*work) error {
	for {
		var version int
		if err := r.until(ctx, func(p *picture) unrest {
			version = p.version
			return r.unrest(p, works)
		}); err != nil {
			return err
		}
		w, err := r.newBarrier(ctx)
		if err != nil {
			return err
		}
		var moved bool
		if err := r.until(ctx, func(p *picture) unrest {
			if moved = p.version != version; moved {
				return unrest{}
			}
			return r.layout.unrestOfBarrier(p, w)
		}); err != nil {
			return err
		}
		if !moved {
			return nil
		}
	}
}

// until returns when there is nothing left to wait for, discovering all the while
// what nodes get because pods run on them.
func (r *run) until(ctx context.Context, look func(*picture) unrest) error {
	for {
		if err := r.discover(ctx); err != nil {
			return err
		}
		var left unrest
		r.view.look(func(p *picture) { left = look(p) })
		if left.over() {
			return nil
		}
		if left.why == "" {
			// All else is at rest: either they are about to, or they can't.
			if err := r.ask(ctx, left.unmade); err != nil {
				return err
			}
		}
		select {
		case <-r.view.changed:
			r.patience.renew()
		case <-r.patience.timer.C():
			if r.patience.over() {
				return restlessError{left.String()}
			}
		case <-ctx.Done():
			return fmt.Errorf("wait (%s): %w", left, context.Cause(ctx))
		}
	}
}

// unrest is what is left to happen to workloads and nodes.
func (r *run) unrest(p *picture, works []*work) unrest {
	for _, m := range r.machines {
		if p.nodes[m.written.Name].version != m.written.ResourceVersion {
			return unrest{why: fmt.Sprintf("node %s: its newest version was not seen yet", m.node.Name)}
		}
		if r.layout.due(p, m) != nil {
			return unrest{why: fmt.Sprintf("node %s: what runs there is not discovered yet", m.node.Name)}
		}
	}
	return r.layout.unrest(p, works)
}
