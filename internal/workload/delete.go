package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// undoDeadline limits the removal of the objects of a failed start.
const undoDeadline = 2 * time.Minute

// deletePoll is the interval between reads of a job that is being deleted.
const deletePoll = 200 * time.Millisecond

var errExists = errors.New("it exists")

// Delete deletes the gang's objects and returns when none of its pods exists, so that it
// claims no GPU. It is idempotent.
func (g *Gang) Delete(ctx context.Context) error {
	var problems []error
	note := func(what string, err error) {
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("delete %s of %s: %w", what, g.Spec.Name, err))
		}
	}
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background}
	if g.kind == nil {
		note("job", g.cluster.Client.BatchV1().Jobs(g.Namespace).Delete(ctx, g.Spec.Name, opts))
	} else {
		note(g.kind.Name(), g.deleteKind(ctx))
	}
	note("pods", g.cluster.Client.CoreV1().Pods(g.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: g.selector()}))
	if g.kind == nil {
		note("service", g.cluster.Client.CoreV1().Services(g.Namespace).Delete(ctx, g.Spec.Name, metav1.DeleteOptions{}))
	}
	if g.Spec.DeviceClass != "" {
		note("resource claim template", g.cluster.DRA().ResourceClaimTemplates(g.Namespace).Delete(ctx, g.Spec.Name, metav1.DeleteOptions{}))
	}
	for _, ref := range g.objects {
		note(ref.resource.Resource, g.cluster.Dynamic.Resource(ref.resource).Namespace(g.Namespace).Delete(ctx, ref.name, metav1.DeleteOptions{}))
	}
	if err := g.until(ctx, func(s state) (bool, error) { return len(s.pods)+s.others == 0, nil }); err != nil {
		problems = append(problems, fmt.Errorf("wait for the deletion of the pods of %s: %w", g.Spec.Name, err))
	}
	if g.scheduler != nil && kube.IsPodGroup(g.scheduler.GroupResource()) && len(problems) == 0 {
		note("pod group", g.cluster.ReleasePodGroup(ctx, g.scheduler.GroupResource(), g.Namespace, g.Spec.Name))
	}
	return errors.Join(problems...)
}

// deleteKind deletes the job and what its controller made of it, and returns when neither exists:
// the last object ends after its pods, so that no controller creates one any more.
func (g *Gang) deleteKind(ctx context.Context) error {
	resources := g.kind.Chain()
	for i, r := range resources {
		policy := metav1.DeletePropagationBackground
		if i == len(resources)-1 {
			policy = metav1.DeletePropagationForeground
		}
		err := g.cluster.Dynamic.Resource(r).Namespace(g.Namespace).Delete(ctx, g.Spec.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	for _, r := range resources {
		err := poll.Until(ctx, deletePoll, r.Resource+" "+g.Spec.Name+" to be deleted", func(ctx context.Context) error {
			_, err := g.cluster.Dynamic.Resource(r).Namespace(g.Namespace).Get(ctx, g.Spec.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return cmp.Or(err, errExists)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
