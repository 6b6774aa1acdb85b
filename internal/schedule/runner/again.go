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

// askAgain deletes the pods that were refused, so that what the scheduler says of
// those that are made in their place is an answer to the nodes as they are. It says
// whether there were any.
func (r *run) askAgain(ctx context.Context, works []*work) (bool, error) {
	var refused []pod
	var of []*work
	r.view.look(func(p *picture) {
		for _, w := range works {
			before := len(refused)
			for _, pod := range p.pods[w.of] {
				if pod.refused {
					refused = append(refused, pod)
				}
			}
			if len(refused) > before {
				of = append(of, w)
			}
		}
	})
	if len(refused) == 0 {
		return false, nil
	}
	// A Job is made anew: its controller would count a deleted pod as a failure, and wait.
	for _, w := range of {
		if w.spec.Kind == job {
			background := metav1.DeletePropagationBackground
			err := r.client.BatchV1().Jobs(w.namespace).Delete(ctx, w.spec.Name, metav1.DeleteOptions{PropagationPolicy: &background})
			if err != nil {
				return false, fmt.Errorf("delete %s: %w", w, err)
			}
		}
	}
	if err := r.deletePods(ctx, refused); err != nil {
		return false, err
	}
	for _, w := range of {
		var err error
		switch w.spec.Kind {
		case job:
			err = r.create(ctx, w)
		case bare:
			err = r.createPods(ctx, w)
		}
		if err != nil {
			return false, fmt.Errorf("make %s again: %w", w, err)
		}
	}
	return true, nil
}

// deletePods deletes pods and returns when they were seen to be gone: until then the
// picture is that from before.
func (r *run) deletePods(ctx context.Context, pods []pod) error {
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, p := range pods {
		group.Go(func() error {
			err := r.client.CoreV1().Pods(p.namespace).Delete(deleting, p.name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return said("delete pod "+p.name, err)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.until(ctx, func(p *picture) unrest {
		for _, pod := range pods {
			if is, there := p.pods[pod.of][pod.key()]; there && is.uid == pod.uid {
				return unrest{why: "pod " + pod.name + " is still there"}
			}
		}
		return unrest{}
	})
}

// ask has the API server say whether it would take a pod of each workload, and keeps
// its answer where it would not: that is what the workload's controller is told, too.
func (r *run) ask(ctx context.Context, works []*work) error {
	for _, w := range works {
		template := r.layout.template(w)
		pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.GenerateName, pod.Namespace = w.spec.Name+"-", w.namespace
		_, err := r.client.CoreV1().Pods(w.namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if status, ok := errors.AsType[*apierrors.StatusError](err); ok && refuses(status.Status()) {
			r.view.putTrouble(w.of, status.Error())
			continue
		}
		if err != nil {
			return fmt.Errorf("ask about the pods of %s: %w", w, err)
		}
	}
	return nil
}
