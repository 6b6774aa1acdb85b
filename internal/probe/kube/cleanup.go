package kube

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// Leftover is an object that carries the label of a run.
type Leftover struct {
	RunID string `json:"run"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// Cleanup deletes what a run created, found by its label and by nothing else:
// its namespace with everything in it, its PriorityClass. It waits until they
// are gone; what could not be removed is in the error. GPUs that the run held
// are free when it returns without one.
func (g Guest) Cleanup(ctx context.Context, runID string) error {
	if runID == "" {
		return errors.New("clean up: no run id: an empty one would select other runs")
	}
	selector := metav1.ListOptions{LabelSelector: LabelRun + "=" + runID}
	client := g.Cluster.Client
	var problems []error
	namespaces, err := client.CoreV1().Namespaces().List(ctx, selector)
	if err != nil {
		return fmt.Errorf("list namespaces of run %s: %w", runID, err)
	}
	for _, ns := range namespaces.Items {
		if err := g.removeNamespace(ctx, ns.Name, runID); err != nil {
			problems = append(problems, err)
		}
	}
	classes, err := client.SchedulingV1().PriorityClasses().List(ctx, selector)
	if err != nil {
		problems = append(problems, fmt.Errorf("list priority classes of run %s: %w", runID, err))
		return errors.Join(problems...)
	}
	for _, pc := range classes.Items {
		err := client.SchedulingV1().PriorityClasses().Delete(ctx, pc.Name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("delete priority class %s: %w", pc.Name, err))
		}
	}
	return errors.Join(problems...)
}

// removeNamespace empties a run's namespace of what holds GPUs, then deletes it.
func (g Guest) removeNamespace(ctx context.Context, namespace, runID string) error {
	if err := g.drain(ctx, namespace); err != nil {
		return err
	}
	if err := g.Cluster.ReleasePodGroups(ctx, namespace, runID); err != nil {
		return err
	}
	return g.deleteNamespace(ctx, namespace)
}

func (g Guest) deleteNamespace(ctx context.Context, name string) error {
	namespaces := g.Cluster.Client.CoreV1().Namespaces()
	err := namespaces.Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete namespace %s: %w", name, err)
	}
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	for {
		list, err := namespaces.List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return fmt.Errorf("wait for the end of namespace %s: %w", name, err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		w, err := namespaces.Watch(ctx, metav1.ListOptions{FieldSelector: selector, ResourceVersion: list.ResourceVersion})
		if err != nil {
			return fmt.Errorf("wait for the end of namespace %s: %w", name, err)
		}
		select {
		case <-w.ResultChan():
			w.Stop()
		case <-ctx.Done():
			w.Stop()
			return fmt.Errorf("namespace %s is still there: %s: %w", name, whyStuck(list.Items[0].Status), ctx.Err())
		}
	}
}

// Leftovers lists what any run of firstlight has left in the cluster.
func (g Guest) Leftovers(ctx context.Context) ([]Leftover, error) {
	selector := metav1.ListOptions{LabelSelector: LabelRun}
	var out []Leftover
	namespaces, err := g.Cluster.Client.CoreV1().Namespaces().List(ctx, selector)
	if err != nil {
		return nil, fmt.Errorf("list namespaces of runs: %w", err)
	}
	for _, ns := range namespaces.Items {
		out = append(out, Leftover{RunID: ns.Labels[LabelRun], Kind: "Namespace", Name: ns.Name})
	}
	classes, err := g.Cluster.Client.SchedulingV1().PriorityClasses().List(ctx, selector)
	if err != nil {
		return nil, fmt.Errorf("list priority classes of runs: %w", err)
	}
	for _, pc := range classes.Items {
		out = append(out, Leftover{RunID: pc.Labels[LabelRun], Kind: "PriorityClass", Name: pc.Name})
	}
	return out, nil
}
