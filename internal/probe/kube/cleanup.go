package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// podsWithin bounds how long the end of a run's pods is waited for before their
// nodes are taken away under them.
const podsWithin = 90 * time.Second

// AnswerWithin bounds the wait for an aggregated API that does not answer; see WaitsForAPI.
const AnswerWithin = 20 * time.Second

// Cleanup deletes what a run created, found by its label and by nothing else:
// what makes pods and the pods, in any namespace; what makes nodes, with its
// nodes; queues; its namespaces with everything in them, its PriorityClass. Of a
// namespace that an administrator made, only what carries the label goes. It waits
// until they are gone (see ClusterEnds); what could not be removed is in the error. GPUs that the
// run held are free when it returns without one.
func (g Guest) Cleanup(ctx context.Context, runID string) error {
	if runID == "" {
		return errors.New("clean up: no run id: an empty one would select other runs")
	}
	selector := LabelRun + "=" + runID
	problems := []error{g.removeWorkloads(ctx, selector)}
	for _, k := range append(capacity(), queues()) {
		problems = append(problems, g.Cluster.deleteLabelled(ctx, k, selector))
	}
	if g.Cluster.Namespace != "" {
		for _, k := range beside() {
			problems = append(problems, g.Cluster.deleteLabelled(ctx, k, selector))
		}
	}
	// Who may not list namespaces has made none.
	if err := g.removeNamespaces(ctx, runID); g.Cluster.Namespace == "" || !apierrors.IsForbidden(err) {
		problems = append(problems, err)
	}
	problems = append(problems, g.removePriorityClasses(ctx, runID))
	return errors.Join(append(problems, g.awaitCapacity(ctx, selector))...)
}

// awaitCapacity waits for the end of what makes nodes and of the nodes, which takes
// as long as their provider needs. A node whose claim ended while it was about to
// join is nobody's any more: nothing but this removes it.
func (g Guest) awaitCapacity(ctx context.Context, selector string) error {
	var problems []error
	for _, k := range capacity() {
		problems = append(problems, g.Cluster.awaitNone(ctx, k, selector))
	}
	problems = append(problems, g.Cluster.deleteLabelled(ctx, nodes(), selector), g.Cluster.awaitNone(ctx, nodes(), selector))
	return errors.Join(problems...)
}

// removeWorkloads ends what makes pods, then the pods, in any namespace.
func (g Guest) removeWorkloads(ctx context.Context, selector string) error {
	var problems []error
	for _, k := range append(workloads(), pods()) {
		problems = append(problems, g.Cluster.deleteLabelled(ctx, k, selector))
	}
	ending, cancel := context.WithTimeout(ctx, podsWithin)
	defer cancel()
	problems = append(problems, g.Cluster.awaitNone(ending, pods(), selector))
	for _, k := range groups() {
		problems = append(problems, g.removeGroups(ctx, k, selector))
	}
	return errors.Join(problems...)
}

// removeGroups ends gangs' objects whose pods are gone.
func (g Guest) removeGroups(ctx context.Context, k kind, selector string) error {
	list, err := g.Cluster.listLabelled(ctx, k, selector)
	if apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	problems := []error{g.Cluster.deleteLabelled(ctx, k, selector)}
	for i := range list.Items {
		if k.resource == PodGroups() {
			problems = append(problems, g.Cluster.ReleasePodGroup(ctx, list.Items[i].GetNamespace(), list.Items[i].GetName()))
		}
	}
	return errors.Join(problems...)
}

func (g Guest) removePriorityClasses(ctx context.Context, runID string) error {
	classes, err := g.Cluster.Client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{LabelSelector: LabelRun + "=" + runID})
	if err != nil {
		return fmt.Errorf("list priority classes of run %s: %w", runID, err)
	}
	var problems []error
	for _, pc := range classes.Items {
		err := g.Cluster.Client.SchedulingV1().PriorityClasses().Delete(ctx, pc.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("delete priority class %s: %w", pc.Name, err))
		}
	}
	return errors.Join(problems...)
}

// removeNamespaces empties a run's namespaces of what holds GPUs, then deletes them.
func (g Guest) removeNamespaces(ctx context.Context, runID string) error {
	namespaces := g.Cluster.Client.CoreV1().Namespaces()
	list, err := namespaces.List(ctx, metav1.ListOptions{LabelSelector: LabelRun + "=" + runID})
	if err != nil {
		return fmt.Errorf("list namespaces of run %s: %w", runID, err)
	}
	var problems []error
	var ending []string
	for _, ns := range list.Items {
		if err := errors.Join(g.drain(ctx, ns.Name), g.Cluster.ReleasePodGroups(ctx, ns.Name, runID)); err != nil {
			problems = append(problems, err)
			continue
		}
		err := namespaces.Delete(ctx, ns.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			problems = append(problems, fmt.Errorf("delete namespace %s: %w", ns.Name, err))
			continue
		}
		ending = append(ending, ns.Name)
	}
	for _, name := range ending {
		problems = append(problems, g.awaitNoNamespace(ctx, name))
	}
	return errors.Join(problems...)
}

func (g Guest) awaitNoNamespace(ctx context.Context, name string) error {
	namespaces := g.Cluster.Client.CoreV1().Namespaces()
	if g.ClusterEnds {
		return nil
	}
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	var unanswered <-chan time.Time
	for {
		list, err := namespaces.List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return fmt.Errorf("wait for the end of namespace %s: %w", name, err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		switch waits := WaitsForAPI(list.Items[0].Status); {
		case waits && unanswered == nil:
			unanswered = time.After(AnswerWithin)
		case !waits:
			unanswered = nil
		}
		w, err := namespaces.Watch(ctx, metav1.ListOptions{FieldSelector: selector, ResourceVersion: list.ResourceVersion})
		if err != nil {
			return fmt.Errorf("wait for the end of namespace %s: %w", name, err)
		}
		select {
		case <-w.ResultChan():
			w.Stop()
		case <-unanswered:
			w.Stop()
			return fmt.Errorf("namespace %s is empty, and ends when an API answers again that Kubernetes asks first: %s", name, whyStuck(list.Items[0].Status))
		case <-ctx.Done():
			w.Stop()
			return fmt.Errorf("namespace %s is still there: %s: %w", name, whyStuck(list.Items[0].Status), ctx.Err())
		}
	}
}
