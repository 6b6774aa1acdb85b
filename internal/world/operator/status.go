package operator

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Status of a ClusterPolicy.
type Status struct {
	State      string             `json:"state"`
	Namespace  string             `json:"namespace"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// States of a ClusterPolicy.
const (
	StateReady    = "ready"
	StateNotReady = "notReady"
)

const (
	conditionReady = "Ready"
	conditionError = "Error"
)

// nextStatus computes the policy's status. Conditions keep their transition times while their
// status does not change.
func nextStatus(before []metav1.Condition, operands []daemonSet, nodes []*corev1.Node, sets []*appsv1.DaemonSet) Status {
	s := Status{Namespace: Namespace}
	for _, c := range before {
		s.Conditions = append(s.Conditions, *c.DeepCopy())
	}
	nfd, gpus := false, false
	for _, n := range nodes {
		nfd = nfd || hasNFDLabels(n)
		gpus = gpus || hasGPU(n)
	}
	var notReady []string
	if gpus { // without a GPU node every state is ready
		for _, o := range operands {
			if !ready(o, sets) {
				notReady = append(notReady, o.State)
			}
		}
	}
	switch {
	case len(notReady) > 0:
		s.State = StateNotReady
		s.set(conditionReady, metav1.ConditionFalse, conditionError, "")
		s.set(conditionError, metav1.ConditionTrue, "OperandNotReady", fmt.Sprintf("ClusterPolicy is not ready, states not ready: %v", notReady))
	case !nfd:
		s.ready("NFDLabelsMissing", "No NFD labels found")
	case !gpus:
		s.ready("NoGPUNodes", "No GPU node found, watching for new nodes to join the cluster.")
	default:
		s.ready("Reconciled", "ClusterPolicy is ready as all resources have been successfully reconciled")
	}
	return s
}

func (s *Status) ready(reason, message string) {
	s.State = StateReady
	s.set(conditionReady, metav1.ConditionTrue, reason, message)
	s.set(conditionError, metav1.ConditionFalse, conditionReady, "")
}

func (s *Status) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message})
}

// hasNFDLabels reports whether node feature discovery has labelled the node.
func hasNFDLabels(n *corev1.Node) bool {
	for key := range n.Labels {
		if len(key) > len(nfdPrefix) && key[:len(nfdPrefix)] == nfdPrefix {
			return true
		}
	}
	return false
}

const nfdPrefix = "feature.node.kubernetes.io/"

// hasGPU reports whether node feature discovery has labelled an NVIDIA device.
func hasGPU(n *corev1.Node) bool { return n.Labels[nfdPrefix+"pci-10de.present"] == "true" }

// ready reports whether the DaemonSet has all its pods. A DaemonSet without status is not ready.
func ready(o daemonSet, sets []*appsv1.DaemonSet) bool {
	for _, ds := range sets {
		if ds.Name == o.Name {
			st := ds.Status
			return ds.Generation > 0 && st.ObservedGeneration >= ds.Generation &&
				st.NumberUnavailable == 0 && st.NumberReady >= st.DesiredNumberScheduled && st.UpdatedNumberScheduled >= st.DesiredNumberScheduled
		}
	}
	return false
}
