package runner

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// picture is what was seen of a cell, by watching or by listing.
type picture struct {
	nodes map[string]node
	// workloads, and their pods by namespace and name, by the workload's label.
	workloads map[string]workload
	pods      map[string]map[string]pod
	gangs     map[string]gang
	// troubles are what controllers say that keeps them from making pods, by the
	// workload's label.
	troubles map[string]string
	// version counts changes of all but barriers.
	version int
}

func newPicture() *picture {
	return &picture{
		nodes: map[string]node{}, workloads: map[string]workload{}, pods: map[string]map[string]pod{},
		gangs: map[string]gang{}, troubles: map[string]string{},
	}
}

// node as it is.
type node struct {
	name, version string
	ready         bool
	labels        map[string]string
	taints        []corev1.Taint
	allocatable   corev1.ResourceList
}

// workload is a controller's own account.
type workload struct {
	generation, observed int64
	// desired and current are pods.
	desired, current int32
	trouble          string
}

// pod as it is.
type pod struct {
	of, namespace, name, node string
	uid                       types.UID
	phase                     corev1.PodPhase
	deleting                  bool
	// refused: the scheduler has answered that it has no node; reason and message are
	// its own.
	refused         bool
	reason, message string
	// scheduler is who has to place it.
	scheduler string
}

// gang is a pod group.
type gang struct {
	of, name                   string
	scheduled, reason, message string
}

// account is the controller's; that of bare pods is what is to be seen of them.
func (p *picture) account(w *work) (workload, bool) {
	if w.spec.Kind == bare {
		n := int32(len(p.pods[w.of])) //nolint:gosec // a few pods
		return workload{generation: 1, observed: 1, desired: w.spec.Replicas, current: n}, true
	}
	account, ok := p.workloads[w.of]
	return account, ok
}

// key tells pods apart.
func (p pod) key() string { return p.namespace + "/" + p.name }

// placed says whether it is on its node: a kubelet would run it there.
func (p pod) placed() bool { return p.node != "" && !p.deleting && !p.done() }

// done says whether it has run to its end.
func (p pod) done() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

// runsOn says whether a workload has a pod on the node.
func (p *picture) runsOn(of, node string) bool {
	for _, pod := range p.pods[of] {
		if pod.node == node && pod.placed() {
			return true
		}
	}
	return false
}

func (p *picture) putPod(v pod) bool {
	of := p.pods[v.of]
	if of == nil {
		of = map[string]pod{}
		p.pods[v.of] = of
	}
	was, known := of[v.key()]
	of[v.key()] = v
	return !known || was != v
}

func (p *picture) dropPod(v pod) bool {
	_, known := p.pods[v.of][v.key()]
	delete(p.pods[v.of], v.key())
	return known
}
