package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// undoDeadline limits the removal of the objects of a failed start.
const undoDeadline = 2 * time.Minute

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
	note("job", g.cluster.Client.BatchV1().Jobs(g.Namespace).Delete(ctx, g.Spec.Name, opts))
	note("pods", g.cluster.Client.CoreV1().Pods(g.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: g.selector()}))
	note("service", g.cluster.Client.CoreV1().Services(g.Namespace).Delete(ctx, g.Spec.Name, metav1.DeleteOptions{}))
	if g.Spec.DeviceClass != "" {
		note("resource claim template", g.cluster.Client.ResourceV1().ResourceClaimTemplates(g.Namespace).Delete(ctx, g.Spec.Name, metav1.DeleteOptions{}))
	}
	for _, ref := range g.groups {
		note(ref.resource.Resource, g.cluster.Dynamic.Resource(ref.resource).Namespace(g.Namespace).Delete(ctx, ref.name, metav1.DeleteOptions{}))
	}
	if err := g.until(ctx, func(s state) (bool, error) { return len(s.pods)+s.others == 0, nil }); err != nil {
		problems = append(problems, fmt.Errorf("wait for the deletion of the pods of %s: %w", g.Spec.Name, err))
	}
	if g.scheduler != nil && g.scheduler.GroupResource() == kube.PodGroups() && len(problems) == 0 {
		note("pod group", g.cluster.ReleasePodGroup(ctx, g.Namespace, g.Spec.Name))
	}
	return errors.Join(problems...)
}
