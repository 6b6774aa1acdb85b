package runner

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// clean takes away what of a cell that was seen still costs the others: its
// DaemonSets, which the controller holds against every node, its nodes, which every
// DaemonSet is held against, and pods that the scheduler would try again, with what
// would make them anew. What is bound stays: taking it away costs more than leaving
// it until the control plane is thrown away. What can't be taken away costs time and
// harms nobody, so nobody is told.
func clean(ctx context.Context, client kubernetes.Interface, l *layout, v *view) {
	background := metav1.DeletePropagationBackground
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), PropagationPolicy: &background}
	of := metav1.ListOptions{LabelSelector: LabelCell + "=" + l.id}
	daemons, makers, waiting := map[string]bool{}, map[string]bool{}, []pod{}
	v.look(func(p *picture) {
		for _, w := range l.works {
			if w.spec.Kind == daemonSet {
				daemons[w.namespace] = true
			}
			for _, pod := range p.pods[w.of] {
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
		_ = client.AppsV1().ReplicaSets(space).DeleteCollection(ctx, now, of)
		_ = client.AppsV1().StatefulSets(space).DeleteCollection(ctx, now, of)
		_ = client.BatchV1().Jobs(space).DeleteCollection(ctx, now, of)
	}
	for _, p := range waiting {
		_ = client.CoreV1().Pods(p.namespace).Delete(ctx, p.name, now)
	}
	for space := range daemons {
		_ = client.AppsV1().DaemonSets(space).DeleteCollection(ctx, now, of)
	}
	_ = client.CoreV1().Nodes().DeleteCollection(ctx, now, of)
}
