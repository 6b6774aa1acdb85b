package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsWithin is how long Cleanup waits for the pods of a run to end before it removes
// their nodes.
const podsWithin = 90 * time.Second

// Cleanup deletes the objects of a run, selected by the run's label only: workloads and
// pods in every namespace, node pools and node claims with their nodes, queues, the
// namespaces of the run with their content, and its PriorityClass. In a namespace that an
// administrator created it deletes only labelled objects. It waits until they no longer
// exist (see ClusterEnds). Nodes of the run with pods of others stay (see Occupied). The error lists every
// object that it could not remove, and the kinds that it could not list (see NotListed); without an error the
// GPUs of the run are free.
func (g Guest) Cleanup(ctx context.Context, runID string) error {
	if runID == "" {
		return errors.New("clean up: run ID is empty: it would select other runs")
	}
	g.Cluster = g.Cluster.withReviews()
	selector := LabelRun + "=" + runID
	problems := []error{g.removeWorkloads(ctx, selector)}
	kept, err := g.removeCapacity(ctx, runID)
	problems = append(problems, err, g.Cluster.deleteLabelled(ctx, queues(), selector, nil))
	if g.Cluster.Namespace != "" {
		for _, k := range namespaced() {
			problems = append(problems, g.Cluster.deleteLabelled(ctx, k, selector, nil))
		}
	}
	problems = append(problems, g.removeNamespaces(ctx, runID), g.removePriorityClasses(ctx, runID))
	problems = append(problems, g.waitCapacityGone(ctx, runID, kept))
	if kept != nil && len(kept.Pods) > 0 {
		problems = append(problems, kept)
	}
	return errors.Join(append(problems, g.Cluster.notListed())...)
}

// removeWorkloads deletes workloads, then pods, in every namespace.
func (g Guest) removeWorkloads(ctx context.Context, selector string) error {
	var problems []error
	for _, k := range append(workloads(), pods()) {
		problems = append(problems, g.Cluster.deleteLabelled(ctx, k, selector, nil))
	}
	ending, cancel := context.WithTimeout(ctx, podsWithin)
	defer cancel()
	problems = append(problems, g.Cluster.waitNone(ending, pods(), selector, nil))
	for _, k := range groups() {
		problems = append(problems, g.removeGroups(ctx, k, selector))
	}
	return errors.Join(problems...)
}

// removeGroups deletes the pod groups of a run, whose pods no longer exist.
func (g Guest) removeGroups(ctx context.Context, k kind, selector string) error {
	list, err := g.Cluster.listCreated(ctx, k, selector)
	if err != nil {
		return err
	}
	problems := []error{g.Cluster.deleteAll(ctx, k, list)}
	for i := range list.Items {
		if IsPodGroup(k.resource) {
			problems = append(problems, g.Cluster.ReleasePodGroup(ctx, k.resource, list.Items[i].GetNamespace(), list.Items[i].GetName()))
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

// removeNamespaces empties the namespaces of a run, deletes all of them, then waits.
func (g Guest) removeNamespaces(ctx context.Context, runID string) error {
	list, err := g.Cluster.Client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: LabelRun + "=" + runID})
	if g.Cluster.Namespace != "" && apierrors.IsForbidden(err) {
		if err = g.Cluster.mayNotCreate(ctx, namespaces(), err); err == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("list namespaces of run %s: %w", runID, err)
	}
	var problems []error
	var deleted []string
	for i := range list.Items {
		if err := g.deleteNamespace(ctx, runID, &list.Items[i]); err != nil {
			problems = append(problems, err)
			continue
		}
		deleted = append(deleted, list.Items[i].Name)
	}
	for _, name := range deleted {
		if !g.ClusterEnds {
			problems = append(problems, g.waitNamespaceGone(ctx, name))
		}
	}
	return errors.Join(problems...)
}
