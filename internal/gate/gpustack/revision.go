package gpustack

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// revisions lists the ControllerRevisions of a namespace if a DaemonSet has outdated pods, or a status that is not of
// its generation. Otherwise no pod is outdated, and the run needs no permission for them.
func revisions(ctx context.Context, cluster *kube.Cluster, namespace string, sets []appsv1.DaemonSet) ([]appsv1.ControllerRevision, error) {
	for i := range sets {
		if upToDate(&sets[i]) {
			continue
		}
		list, err := cluster.Client.AppsV1().ControllerRevisions(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list ControllerRevisions of %s: %w", namespace, err)
		}
		return list.Items, nil
	}
	return nil, nil
}

func upToDate(set *appsv1.DaemonSet) bool {
	s := set.Status
	return s.ObservedGeneration >= set.Generation && s.UpdatedNumberScheduled >= s.DesiredNumberScheduled
}

// outdated returns whether a pod of a DaemonSet has another template than the DaemonSet's: with the update strategy
// OnDelete, that of driver DaemonSets, such a pod stays ready.
func outdated(set *appsv1.DaemonSet, revisions []appsv1.ControllerRevision) func(*corev1.Pod) bool {
	if upToDate(set) {
		return func(*corev1.Pod) bool { return false }
	}
	var newest *appsv1.ControllerRevision
	for i := range revisions {
		if r := &revisions[i]; metav1.IsControlledBy(r, set) && (newest == nil || r.Revision > newest.Revision) {
			newest = r
		}
	}
	const hash = appsv1.ControllerRevisionHashLabelKey
	if newest == nil || set.Status.ObservedGeneration < set.Generation { // the controller has not yet acted on the newest template
		return func(*corev1.Pod) bool { return true }
	}
	return func(pod *corev1.Pod) bool { return pod.Labels[hash] != newest.Labels[hash] }
}
