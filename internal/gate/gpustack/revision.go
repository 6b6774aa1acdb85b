package gpustack

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// formerRevision returns whether a pod of a DaemonSet may have a former template: with the update strategy OnDelete,
// that of driver DaemonSets, such a pod stays ready. The current revision is that of the newest pod, if the DaemonSet
// counts as many pods of its current revision; otherwise it is not known which pods have it, and all may be former ones.
func formerRevision(set *appsv1.DaemonSet, pods []corev1.Pod) func(*corev1.Pod) bool {
	status := set.Status
	observed := status.ObservedGeneration >= set.Generation
	if observed && status.UpdatedNumberScheduled >= status.DesiredNumberScheduled {
		return func(*corev1.Pod) bool { return false }
	}
	var newest *corev1.Pod
	count := map[string]int{}
	for i := range pods {
		pod := &pods[i]
		if !metav1.IsControlledBy(pod, set) || pod.DeletionTimestamp != nil {
			continue
		}
		count[revisionOf(pod)]++
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) {
			newest = pod
		}
	}
	if !observed || newest == nil || count[revisionOf(newest)] != int(status.UpdatedNumberScheduled) {
		return func(*corev1.Pod) bool { return true }
	}
	return func(pod *corev1.Pod) bool { return revisionOf(pod) != revisionOf(newest) }
}

func revisionOf(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }
