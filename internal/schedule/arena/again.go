package arena

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// askAgain deletes the pods that were refused, so that what the scheduler says of
// those that the controllers make in their place is an answer to the nodes as they
// are. A Job is made anew: its controller would count a deleted pod as a failure, and
// wait. It says whether there were any.
func (r *run) askAgain(ctx context.Context, works []*work) (bool, error) {
	var refused []pod
	jobs := map[*work]bool{}
	r.view.look(func(p *picture) {
		for _, w := range works {
			for _, pod := range p.pods[w.of] {
				if pod.refused {
					refused = append(refused, pod)
					jobs[w] = jobs[w] || w.spec.Kind == job
				}
			}
		}
	})
	for w, is := range jobs {
		if !is {
			continue
		}
		background := metav1.DeletePropagationBackground
		err := r.client.BatchV1().Jobs(w.namespace).Delete(ctx, w.spec.Name, metav1.DeleteOptions{PropagationPolicy: &background})
		if err != nil {
			return false, fmt.Errorf("delete job %s: %w", w.spec.Name, err)
		}
	}
	group, deleting := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, p := range refused {
		group.Go(func() error {
			err := r.client.CoreV1().Pods(p.namespace).Delete(deleting, p.name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return said("delete pod "+p.name, err)
		})
	}
	if err := group.Wait(); err != nil {
		return false, err //nolint:wrapcheck // said above
	}
	for w, is := range jobs {
		if is {
			if err := r.create(ctx, w); err != nil {
				return false, err
			}
		}
	}
	// Until they are seen to be gone, the picture is that from before.
	return len(refused) > 0, r.until(ctx, func(p *picture) string {
		for _, pod := range refused {
			if is, there := p.pods[pod.of][pod.key()]; there && is.uid == pod.uid {
				return "pod " + pod.name + " is still there"
			}
		}
		return ""
	})
}
