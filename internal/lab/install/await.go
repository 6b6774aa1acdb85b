package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const lookEvery = 250 * time.Millisecond

// Await returns when all objects of Apply have their pods and the Jobs have completed. When ctx
// ends, the error has what is not ready.
func Await(ctx context.Context, client kubernetes.Interface) error {
	var left error
	err := wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		left = unready(ctx, client)
		return left == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the components: %w", errors.Join(left, context.Cause(ctx)))
	}
	return nil
}

// unready returns an error for the first workload that is not ready.
func unready(ctx context.Context, client kubernetes.Interface) error {
	of := metav1.ListOptions{LabelSelector: Label}
	deployments, err := client.AppsV1().Deployments("").List(ctx, of)
	if err != nil {
		return fmt.Errorf("list Deployments: %w", err)
	}
	for _, d := range deployments.Items {
		if d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas < *d.Spec.Replicas {
			return fmt.Errorf("deployment %s/%s has %d of %d pods available", d.Namespace, d.Name, d.Status.AvailableReplicas, *d.Spec.Replicas)
		}
	}
	sets, err := client.AppsV1().StatefulSets("").List(ctx, of)
	if err != nil {
		return fmt.Errorf("list StatefulSets: %w", err)
	}
	for _, s := range sets.Items {
		if s.Status.ObservedGeneration < s.Generation || s.Status.AvailableReplicas < *s.Spec.Replicas {
			return fmt.Errorf("StatefulSet %s/%s has %d of %d pods available", s.Namespace, s.Name, s.Status.AvailableReplicas, *s.Spec.Replicas)
		}
	}
	daemons, err := client.AppsV1().DaemonSets("").List(ctx, of)
	if err != nil {
		return fmt.Errorf("list DaemonSets: %w", err)
	}
	for _, d := range daemons.Items {
		if d.Status.ObservedGeneration < d.Generation || d.Status.NumberAvailable < d.Status.DesiredNumberScheduled {
			return fmt.Errorf("DaemonSet %s/%s has %d of %d pods available", d.Namespace, d.Name, d.Status.NumberAvailable, d.Status.DesiredNumberScheduled)
		}
	}
	jobs, err := client.BatchV1().Jobs("").List(ctx, of)
	if err != nil {
		return fmt.Errorf("list Jobs: %w", err)
	}
	for _, j := range jobs.Items {
		if !complete(j) {
			return fmt.Errorf("job %s/%s has %d succeeded pods", j.Namespace, j.Name, j.Status.Succeeded)
		}
	}
	return nil
}

func complete(j batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
