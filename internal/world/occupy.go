package world

import (
	"errors"
	"fmt"
	"slices"
)

// Occupy gives n usable, free GPUs of a node to a pod, the lowest indices first,
// as the device plugin does. A pod that already holds n GPUs of the node keeps them.
func (w *World) Occupy(pod Pod, node string, n int, load Load) ([]int, error) {
	if pod.UID == "" || n < 1 {
		return nil, errors.New("occupy GPUs: a pod needs a UID and at least one GPU")
	}
	state := w.State()
	on, ok := state.Node(node)
	if !ok {
		return nil, fmt.Errorf("occupy GPUs: no node %q", node)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if have, ok := w.claims[pod.UID]; ok {
		if have.node == node && len(have.gpus) == n {
			return slices.Clone(have.gpus), nil
		}
		return nil, fmt.Errorf("occupy GPUs: pod %s/%s already holds %d GPUs of %s", pod.Namespace, pod.Name, len(have.gpus), have.node)
	}
	taken := map[int]bool{}
	for _, c := range w.claims {
		if c.node == node {
			for _, i := range c.gpus {
				taken[i] = true
			}
		}
	}
	var got []int
	for _, g := range on.GPUs {
		if g.Usable() && !taken[g.Index] && len(got) < n {
			got = append(got, g.Index)
		}
	}
	if len(got) < n {
		return nil, fmt.Errorf("occupy GPUs: pod %s/%s wants %d GPUs of %s, %d are free", pod.Namespace, pod.Name, n, node, len(got))
	}
	w.claims[pod.UID] = claim{pod: pod, node: node, gpus: got, load: load}
	w.notify()
	return slices.Clone(got), nil
}

// SetLoad changes what a pod does to its GPUs; a pod that holds none is an error.
func (w *World) SetLoad(uid string, load Load) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.claims[uid]
	if !ok {
		return fmt.Errorf("set load: pod %s holds no GPUs", uid)
	}
	c.load = load
	w.claims[uid] = c
	w.notify()
	return nil
}

// Release frees what a pod holds; a pod that holds nothing is fine.
func (w *World) Release(uid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.claims[uid]; ok {
		delete(w.claims, uid)
		w.notify()
	}
}
