package kube

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// drain ends every Job and pod of a run's namespace and returns when no pod is
// left there, so that its GPUs are free before the namespace itself goes.
func (g Guest) drain(ctx context.Context, namespace string) error {
	background := metav1.DeletePropagationBackground
	client := g.Cluster.Client
	err := client.BatchV1().Jobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete jobs of %s: %w", namespace, err)
	}
	pods := client.CoreV1().Pods(namespace)
	for {
		if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete pods of %s: %w", namespace, err)
		}
		list, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list pods of %s: %w", namespace, err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			return fmt.Errorf("watch pods of %s: %w", namespace, err)
		}
		select {
		case <-w.ResultChan():
			w.Stop()
		case <-ctx.Done():
			w.Stop()
			return fmt.Errorf("%d pods of %s are still there, %s first: %w", len(list.Items), namespace, list.Items[0].Name, ctx.Err())
		}
	}
}
