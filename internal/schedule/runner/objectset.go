package runner

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// objectSet holds the observed objects of a scenario, from watches or lists.
type objectSet struct {
	nodes map[string]node
	// statuses of workloads and their pods (by namespace/name), by the workload's label.
	statuses map[string]workloadStatus
	pods     map[string]map[string]pod
	gangs    map[string]gang
	// problems are the reasons why controllers cannot create pods, by the workload's label.
	problems map[string]string
	// version counts changes, except those of barriers.
	version int
}

func newObjectSet() *objectSet {
	return &objectSet{
		nodes: map[string]node{}, statuses: map[string]workloadStatus{}, pods: map[string]map[string]pod{},
		gangs: map[string]gang{}, problems: map[string]string{},
	}
}

type node struct {
	name, version string
	ready         bool
	labels        map[string]string
	taints        []corev1.Taint
	allocatable   corev1.ResourceList
}

// workloadStatus is the status of a workload.
type workloadStatus struct {
	generation, observed int64
	// desired and current numbers of pods.
	desired, current int32
	problem          string
}

type pod struct {
	key, namespace, name, node string
	uid                        types.UID
	phase                      corev1.PodPhase
	deleting                   bool
	// rejected reports that the scheduler found no node; reason and message are the
	// scheduler's.
	rejected        bool
	reason, message string
	// scheduler is the pod's schedulerName.
	scheduler string
}

// gang is a pod group.
type gang struct {
	key, name                  string
	scheduled, reason, message string
}

// status is the controller's; for bare pods it is computed from the pods.
func (p *objectSet) status(w *workload) (workloadStatus, bool) {
	if w.spec.Kind == bare {
		n := int32(len(p.pods[w.key])) //nolint:gosec // a few pods
		return workloadStatus{generation: 1, observed: 1, desired: w.spec.Replicas, current: n}, true
	}
	status, ok := p.statuses[w.key]
	return status, ok
}

func (p pod) namespacedName() string { return p.namespace + "/" + p.name }

// onNode reports whether a kubelet would run the pod.
func (p pod) onNode() bool { return p.node != "" && !p.deleting && !p.done() }

// done reports whether the pod has finished.
func (p pod) done() bool { return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed }

// runsOn reports whether a workload has a pod on the node.
func (p *objectSet) runsOn(key, node string) bool {
	for _, pod := range p.pods[key] {
		if pod.node == node && pod.onNode() {
			return true
		}
	}
	return false
}

func (p *objectSet) putPod(v pod) bool {
	key := p.pods[v.key]
	if key == nil {
		key = map[string]pod{}
		p.pods[v.key] = key
	}
	was, known := key[v.namespacedName()]
	key[v.namespacedName()] = v
	return !known || was != v
}

func (p *objectSet) dropPod(v pod) bool {
	_, known := p.pods[v.key][v.namespacedName()]
	delete(p.pods[v.key], v.namespacedName())
	return known
}
