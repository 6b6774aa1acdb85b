package world

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/world/fabric"
)

// World is the simulated hardware. It is safe for concurrent use.
type World struct {
	spec     Spec
	hw       Hardware
	clock    func() time.Time
	made     time.Time
	topology fabric.Topology
	nodes    []Node   // idle and healthy
	facility Facility // without faults

	mu     sync.Mutex
	faults []Fault
	nextID int
	claims map[string]claim // by pod UID
	// exercised counts diagnostics that load a node's GPUs, by node.
	exercised map[string]int
	// changedLoads are the nodes whose loads have changed since the state of Recent.
	changedLoads map[string]bool
	// observed receives when a node's GPUs were observed during its last diagnostic, by node.
	observed map[string]chan struct{}
	subs     map[int]chan struct{}
	nextS    int
	// changes counts changes of faults.
	changes int

	recentMu sync.Mutex
	recent   draft
	recentOf int // changes when it was computed, + 1; 0: none
	shared   func(State)
}

// claim has the GPUs of one pod.
type claim struct {
	pod  Pod
	node string
	// given are GPUs of ResourceClaims, plugged those of the device plugin.
	given   []Given
	plugged []int
	load    Load
}

func (c claim) gpus() []int {
	var out []int
	for _, g := range c.given {
		out = append(out, g.Index)
	}
	return append(out, c.plugged...)
}

// Option configures a World.
type Option func(*World)

// WithClock sets the world's clock; the default is time.Now.
func WithClock(now func() time.Time) Option { return func(w *World) { w.clock = now } }

// WithShared calls f, one call at a time, with each state that Recent shares, before its first caller has it.
// Package worldtest finds callers that change it.
func WithShared(f func(State)) Option { return func(w *World) { w.shared = f } }

// New returns a healthy, idle world.
func New(spec Spec, opts ...Option) (*World, error) {
	hw, err := LoadHardware(spec.Hardware)
	if err != nil {
		return nil, fmt.Errorf("make world %s: %w", spec.Name, err)
	}
	if err := spec.validate(hw); err != nil {
		return nil, fmt.Errorf("make world %s: %w", spec.Name, err)
	}
	w := &World{spec: spec, hw: hw, clock: time.Now, claims: map[string]claim{}, exercised: map[string]int{}, changedLoads: map[string]bool{}, observed: map[string]chan struct{}{}, subs: map[int]chan struct{}{}}
	for _, o := range opts {
		o(w)
	}
	w.made = w.clock()
	if w.topology, err = buildFabric(spec, hw); err != nil {
		return nil, fmt.Errorf("make world %s: %w", spec.Name, err)
	}
	if w.nodes, err = buildNodes(spec, hw, w.topology); err != nil {
		return nil, fmt.Errorf("make world %s: %w", spec.Name, err)
	}
	w.facility = w.newFacility()
	return w, nil
}

// Spec returns the world's spec.
func (w *World) Spec() Spec { return w.spec }

// State returns the current state.
func (w *World) State() State {
	return w.compute().State
}

// compute returns the current state with what the loads of its nodes need.
func (w *World) compute() draft {
	now := w.clock()
	w.mu.Lock()
	faults, loads := slices.Clone(w.faults), w.loads(nil)
	w.mu.Unlock()
	return w.draftAt(now, faults, loads)
}

// The age up to which Recent returns a state again, by the number of nodes: a computation takes 10 to 20 us a node. In
// a lab of few nodes a diagnostic is over in milliseconds, and the counters before and after it must differ.
const (
	recentAgePerNode = 100 * time.Microsecond
	recentAgeMost    = 100 * time.Millisecond
)

func recentAge(nodes int) time.Duration {
	return min(time.Duration(nodes)*recentAgePerNode, recentAgeMost)
}

// Recent returns the state after the last change, with counters and temperatures of at most recentAge
// ago. Callers share it and must not change it (see WithShared): a copy of the whole world for each
// command of each host costs the square of the number of hosts. So does a computation of the whole
// world for each change of a node's load, so that only this node is computed again.
func (w *World) Recent() State {
	w.recentMu.Lock()
	defer w.recentMu.Unlock()
	w.mu.Lock()
	changes, loads := w.changes+1, map[string]nodeLoad(nil)
	if len(w.changedLoads) > 0 {
		loads = w.loads(w.changedLoads)
		w.changedLoads = map[string]bool{}
	}
	w.mu.Unlock()
	age := w.clock().Sub(w.recent.Now)
	switch {
	case w.recentOf != changes || age < 0 || age > recentAge(len(w.recent.Nodes)):
		w.recent, w.recentOf = w.compute(), changes
	case loads != nil:
		w.recent = w.recent.reloaded(loads)
	default:
		return w.recent.State
	}
	if w.shared != nil {
		w.shared(w.recent.State)
	}
	return w.recent.State
}

// Subscribe returns a channel that receives after changes of faults (changes may be coalesced) and a
// function that ends the subscription. Loads of GPUs change several times a second on each node of a
// large cluster, and no subscriber shows them.
func (w *World) Subscribe() (notices <-chan struct{}, cancel func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.nextS
	w.nextS++
	w.subs[id] = ch
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.subs, id)
	}
}

// notify is called after a change of faults. It requires w.mu.
func (w *World) notify() {
	w.changes++
	for _, ch := range w.subs {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
