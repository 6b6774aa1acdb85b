package fanout

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// remove deletes the run's objects by label and waits until its pods are gone. Kinds that it may
// neither list nor create are in notListed.
func remove(ctx context.Context, cluster *kube.Cluster, s *Spec) (notListed *kube.NotListedError, err error) {
	problems := []error{removeJob(ctx, cluster, s)}
	all := metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + s.RunID}
	client, namespace := cluster.Client, s.namespace()
	for what, collection := range map[string]func(context.Context, metav1.DeleteOptions, metav1.ListOptions) error{
		"ConfigMaps":      client.CoreV1().ConfigMaps(namespace).DeleteCollection,
		"RoleBindings":    client.RbacV1().RoleBindings(namespace).DeleteCollection,
		"Roles":           client.RbacV1().Roles(namespace).DeleteCollection,
		"ServiceAccounts": client.CoreV1().ServiceAccounts(namespace).DeleteCollection,
	} {
		// Without permission they are garbage-collected with the Job.
		if err := collection(ctx, metav1.DeleteOptions{}, all); err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("delete %s: %w", what, err))
		}
	}
	if s.Namespace == "" || s.PriorityClass == "" { // cluster-scoped objects
		var wrong error
		notListed, wrong = kube.NotListed(kube.Guest{Cluster: cluster}.Cleanup(ctx, s.RunID))
		problems = append(problems, wrong)
	}
	return notListed, errors.Join(problems...)
}

func removeJob(ctx context.Context, cluster *kube.Cluster, s *Spec) error {
	jobs := cluster.Client.BatchV1().Jobs(s.namespace())
	job, err := jobs.Get(ctx, s.job(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) { // never created
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the Job: %w", err)
	}
	if job.Labels[kube.LabelRun] != s.RunID {
		return fmt.Errorf("job %s: %w", job.Name, kube.ErrNotOurs)
	}
	background := metav1.DeletePropagationBackground
	err = jobs.Delete(ctx, job.Name, metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &job.UID}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete the Job: %w", err)
	}
	return waitForPodsGone(ctx, cluster, s)
}

// listInterval is the pause between two lists of the run's pods.
const listInterval = 500 * time.Millisecond

// waitForPodsGone waits until no pod of the run is left in its namespace.
func waitForPodsGone(ctx context.Context, cluster *kube.Cluster, s *Spec) error {
	return poll.Until(ctx, listInterval, "the end of the run's pods", func(ctx context.Context) error {
		list, err := cluster.Client.CoreV1().Pods(s.namespace()).List(ctx, metav1.ListOptions{LabelSelector: podsOf(s)})
		switch {
		case err != nil:
			return poll.Stop(fmt.Errorf("list the shards' pods: %w", err))
		case len(list.Items) > 0:
			return fmt.Errorf("%d pods of the run still exist, first %s", len(list.Items), list.Items[0].Name)
		}
		return nil
	})
}
