package runner

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// clean deletes the objects of an observed scenario that slow down others: its DaemonSets,
// which the controller matches with every node, its nodes, which it matches with every
// DaemonSet, and pending pods with their controllers, which the scheduler would retry.
// Bound pods stay: deleting them costs more than leaving them until the control plane is
// discarded. Errors are ignored: remaining objects only cost time.
func clean(ctx context.Context, client kubernetes.Interface, l *layout, v *view) {
	background := metav1.DeletePropagationBackground
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), PropagationPolicy: &background}
	key := metav1.ListOptions{LabelSelector: LabelScenario + "=" + l.id}
	daemons, makers, waiting := map[string]bool{}, map[string]bool{}, []pod{}
	v.read(func(p *objectSet) {
		for _, w := range l.workloads {
			if w.spec.Kind == daemonSet {
				daemons[w.namespace] = true
			}
			for _, pod := range p.pods[w.key] {
				if pod.node == "" {
					waiting = append(waiting, pod)
					makers[w.namespace] = makers[w.namespace] || w.spec.Kind != bare && w.spec.Kind != daemonSet
				}
			}
		}
	})
	for space, is := range makers {
		if !is {
			continue
		}
		_ = client.AppsV1().ReplicaSets(space).DeleteCollection(ctx, now, key)
		_ = client.AppsV1().StatefulSets(space).DeleteCollection(ctx, now, key)
		_ = client.BatchV1().Jobs(space).DeleteCollection(ctx, now, key)
	}
	for _, p := range waiting {
		_ = client.CoreV1().Pods(p.namespace).Delete(ctx, p.name, now)
	}
	for space := range daemons {
		_ = client.AppsV1().DaemonSets(space).DeleteCollection(ctx, now, key)
	}
	_ = client.CoreV1().Nodes().DeleteCollection(ctx, now, key)
}
