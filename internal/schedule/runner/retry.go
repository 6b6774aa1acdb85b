package runner

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// retryUnschedulable deletes unschedulable pods, so that their replacements are evaluated
// with the current nodes. It reports whether there were any.
func (r *run) retryUnschedulable(ctx context.Context, workloads []*workload) (bool, error) {
	var rejected []pod
	var key []*workload
	r.view.read(func(p *objectSet) {
		for _, w := range workloads {
			before := len(rejected)
			for _, pod := range p.pods[w.key] {
				if pod.rejected {
					rejected = append(rejected, pod)
				}
			}
			if len(rejected) > before {
				key = append(key, w)
			}
		}
	})
	if len(rejected) == 0 {
		return false, nil
	}
	// Recreate Jobs: their controller would count a deleted pod as a failure and back off.
	for _, w := range key {
		if w.spec.Kind == job {
			background := metav1.DeletePropagationBackground
			err := r.client.BatchV1().Jobs(w.namespace).Delete(ctx, w.spec.Name, metav1.DeleteOptions{PropagationPolicy: &background})
			if err != nil {
				return false, fmt.Errorf("delete %s: %w", w, err)
			}
		}
	}
	if err := r.deletePods(ctx, rejected); err != nil {
		return false, err
	}
	for _, w := range key {
		var err error
		switch w.spec.Kind {
		case job:
			err = r.create(ctx, w)
		case bare:
			err = r.createPods(ctx, w)
		}
		if err != nil {
			return false, fmt.Errorf("create %s again: %w", w, err)
		}
	}
	return true, nil
}

// deletePods deletes pods and waits until their deletion is observed.
func (r *run) deletePods(ctx context.Context, pods []pod) error {
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(maxRequests)
	for _, p := range pods {
		group.Go(func() error {
			err := r.client.CoreV1().Pods(p.namespace).Delete(deleting, p.name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return wrapErr("delete pod "+p.name, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.waitFor(ctx, func(p *objectSet) pending {
		for _, pod := range pods {
			if is, there := p.pods[pod.key][pod.namespacedName()]; there && is.uid == pod.uid {
				return pending{reason: "pod " + pod.name + " still exists"}
			}
		}
		return pending{}
	})
}

// checkAdmission sends a dry-run pod of each workload and records the API server's
// rejection, which the workload's controller gets as well.
func (r *run) checkAdmission(ctx context.Context, workloads []*workload) error {
	for _, w := range workloads {
		template := r.layout.template(w)
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.GenerateName, pod.Namespace = w.spec.Name+"-", w.namespace
		_, err := r.client.CoreV1().Pods(w.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if status, ok := errors.AsType[*apierrors.StatusError](err); ok && isRejection(status.Status()) {
			r.view.putProblem(w.key, status.Error())
			continue
		}
		if err != nil {
			return fmt.Errorf("dry-run create the pods of %s: %w", w, err)
		}
	}
	return nil
}
