package world

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Given is a GPU that a ResourceClaim allocates to a pod, by its index.
type Given struct {
	Index int
	// Claim is the ResourceClaim's UID; the pods of one claim share its GPUs.
	Claim string
}

// Occupy allocates n usable, free GPUs of a node to a pod, the lowest indices first, as the device
// plugin does. A pod that already has n GPUs of the node keeps them.
func (w *World) Occupy(pod Pod, node string, n int, load Load) ([]int, error) {
	if n < 1 {
		return nil, errors.New("occupy GPUs: a pod needs a UID and at least one GPU")
	}
	return w.Take(pod, node, nil, n, load)
}

// Take allocates a pod the GPUs of its claims and n more, as Occupy does, and returns the latter.
// If a GPU is broken or held by a pod without that claim, it returns an error and allocates
// nothing.
func (w *World) Take(pod Pod, node string, given []Given, n int, load Load) ([]int, error) {
	if pod.UID == "" || len(given)+n < 1 {
		return nil, errors.New("occupy GPUs: a pod needs a UID and at least one GPU")
	}
	state := w.Recent()
	on, ok := state.Node(node)
	if !ok {
		return nil, fmt.Errorf("occupy GPUs: unknown node %q", node)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if have, ok := w.claims[pod.UID]; ok {
		if have.node == node && slices.Equal(have.given, given) && len(have.plugged) == n {
			return slices.Clone(have.plugged), nil
		}
		return nil, fmt.Errorf("occupy GPUs: pod %s/%s already holds %d GPUs of %s", pod.Namespace, pod.Name, len(have.gpus()), have.node)
	}
	c := claim{pod: pod, node: node, given: slices.Clone(given), load: load}
	others := w.claimsOn(node)
	for _, g := range given {
		if err := allocatable(on, g, others); err != nil {
			return nil, fmt.Errorf("occupy GPUs: pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	for _, g := range on.GPUs {
		mine := slices.ContainsFunc(given, func(have Given) bool { return have.Index == g.Index })
		if g.Usable() && !mine && len(holders(others, g.Index)) == 0 && len(c.plugged) < n {
			c.plugged = append(c.plugged, g.Index)
		}
	}
	if len(c.plugged) < n {
		return nil, fmt.Errorf("occupy GPUs: pod %s/%s requests %d GPUs of %s, %d are free", pod.Namespace, pod.Name, n, node, len(c.plugged))
	}
	w.claims[pod.UID] = c
	w.changedLoads[node] = true
	return slices.Clone(c.plugged), nil
}

// allocatable returns nil if a pod of the claim can have the GPU, which others of the node may claim.
func allocatable(on Node, g Given, others []claim) error {
	i := slices.IndexFunc(on.GPUs, func(have GPU) bool { return have.Index == g.Index })
	if i < 0 || !on.GPUs[i].Usable() {
		return fmt.Errorf("GPU %d of %s not found", g.Index, on.Name)
	}
	for _, holder := range holders(others, g.Index) {
		if !slices.ContainsFunc(holder.given, func(have Given) bool { return have == g }) {
			return fmt.Errorf("GPU %d of %s is held by %s/%s", g.Index, on.Name, holder.pod.Namespace, holder.pod.Name)
		}
	}
	return nil
}

// claimsOn returns the claims on GPUs of a node. It requires w.mu.
func (w *World) claimsOn(node string) []claim {
	var out []claim
	for _, c := range w.claims {
		if c.node == node {
			out = append(out, c)
		}
	}
	return out
}

// holders returns the claims on a GPU of their node.
func holders(of []claim, gpu int) []claim {
	var out []claim
	for _, c := range of {
		if slices.Contains(c.gpus(), gpu) {
			out = append(out, c)
		}
	}
	return out
}

// SetLoad sets the load of a pod's GPUs. The pod must hold GPUs.
func (w *World) SetLoad(uid string, load Load) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.claims[uid]
	if !ok {
		return fmt.Errorf("set load: pod %s holds no GPUs", uid)
	}
	c.load = load
	w.claims[uid] = c
	w.changedLoads[c.node] = true
	return nil
}

// Release frees a pod's GPUs, if any.
func (w *World) Release(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.claims[uid]; ok {
		delete(w.claims, uid)
		w.changedLoads[c.node] = true
	}
}

// Exercise loads every GPU of a node, as a diagnostic does, until stop is called. observed
// receives when the GPUs were observed under this load.
func (w *World) Exercise(node string) (observed <-chan struct{}, stop func()) {
	change := func(by int) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.exercised[node] += by
		w.changedLoads[node] = true
	}
	change(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	looked := make(chan struct{}, 1)
	w.observed[node] = looked // a later diagnostic of the node replaces this one
	return looked, sync.OnceFunc(func() { change(-1) })
}

// Look begins an observation of a node's GPUs; done ends it. One that began during a diagnostic
// has observed them under load.
func (w *World) Look(node string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exercised[node] == 0 {
		return func() {}
	}
	observed := w.observed[node]
	return func() {
		select {
		case observed <- struct{}{}:
		default: // already observed
		}
	}
}
