package scenario

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// Selects reports whether a pod's node selector and required node affinity match a node with
// the labels. An invalid term matches nothing, as in the scheduler.
func Selects(p footprint.Pod, node string, labels map[string]string) bool {
	pod := corev1.Pod{Spec: corev1.PodSpec{NodeSelector: p.NodeSelector, Affinity: p.Affinity}}
	at := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: labels}}
	chosen, err := nodeaffinity.GetRequiredNodeAffinity(&pod).Match(&at)
	return err == nil && chosen
}

// Untolerated is the first taint that keeps the pods of a workload off a node.
func Untolerated(w footprint.Workload, taints []corev1.Taint) (corev1.Taint, bool) {
	tolerations := w.Pod.Tolerations
	if w.Kind == DaemonSet {
		tolerations = append(daemonTolerations(w.Pod.HostNetwork), tolerations...)
	}
	return scheduling.FindMatchingUntoleratedTaint(klog.Logger{}, taints, tolerations, preventsPlacement, false)
}

func preventsPlacement(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// DaemonSet is the kind whose pods are one a node.
const DaemonSet = "DaemonSet"

// daemonTolerations are those that the DaemonSet controller gives to every pod.
func daemonTolerations(hostNetwork bool) []corev1.Toleration {
	out := []corev1.Toleration{
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	}
	if hostNetwork {
		out = append(out, corev1.Toleration{Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	return out
}

// Wants says whether a DaemonSet has to have a pod on a node with the labels: the
// nodes that its selector chooses, tainted or not. Only system pods may be kept off
// GPU nodes by a taint.
func Wants(w footprint.Workload, n Node, labels map[string]string) bool {
	if w.Kind != DaemonSet || !Selects(w.Pod, n.Name, labels) {
		return false
	}
	_, tainted := Untolerated(w, n.Taints)
	return !tainted || w.Class != footprint.System || n.Class != footprint.Accelerated
}
