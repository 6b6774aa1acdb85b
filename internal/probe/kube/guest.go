package kube

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// priorityValue is below that of ordinary pods (0): in a full cluster ours wait.
const priorityValue = -10

// Guest keeps the manners of a run on a cluster that is not ours.
type Guest struct {
	Cluster *Cluster
}

// EnsureNamespace creates the namespace and the PriorityClass of a run and
// waits until pods can be created there. It may be called again.
func (g Guest) EnsureNamespace(ctx context.Context, runID string) (namespace string, err error) {
	namespace = NamespaceOf(runID)
	client := g.Cluster.Client
	labels := Labels(runID, "")
	// Pods of the fabric tests lock memory for RDMA, which the baseline level of
	// pod security refuses.
	nsLabels := Labels(runID, "")
	nsLabels["pod-security.kubernetes.io/enforce"] = "privileged"
	_, err = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: nsLabels},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	if err := g.ours(ctx, namespace, runID); err != nil {
		return "", err
	}
	never := corev1.PreemptNever
	_, err = client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta:       metav1.ObjectMeta{Name: PriorityClassOf(runID), Labels: labels},
		Value:            priorityValue,
		PreemptionPolicy: &never,
		Description:      "Pods of firstlight's run " + runID + ": they wait, they preempt nothing.",
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create priority class %s: %w", PriorityClassOf(runID), err)
	}
	return namespace, g.awaitServiceAccount(ctx, namespace)
}

// ErrNotOurs is returned for an object of our name that does not carry our label.
var ErrNotOurs = errors.New("exists and does not carry this run's label")

func (g Guest) ours(ctx context.Context, namespace, runID string) error {
	ns, err := g.Cluster.Client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read namespace %s: %w", namespace, err)
	}
	if ns.Labels[LabelRun] != runID {
		return fmt.Errorf("namespace %s: %w", namespace, ErrNotOurs)
	}
	if ns.DeletionTimestamp != nil {
		return fmt.Errorf("namespace %s is being deleted", namespace)
	}
	return nil
}

// awaitServiceAccount waits for the namespace's default ServiceAccount: a pod
// posted before it exists is refused.
func (g Guest) awaitServiceAccount(ctx context.Context, namespace string) error {
	accounts := g.Cluster.Client.CoreV1().ServiceAccounts(namespace)
	selector := "metadata.name=default"
	list, err := accounts.List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return fmt.Errorf("list service accounts of %s: %w", namespace, err)
	}
	for len(list.Items) == 0 {
		w, err := accounts.Watch(ctx, metav1.ListOptions{FieldSelector: selector, ResourceVersion: list.ResourceVersion})
		if err != nil {
			return fmt.Errorf("watch service accounts of %s: %w", namespace, err)
		}
		select {
		case <-w.ResultChan():
		case <-ctx.Done():
			w.Stop()
			return fmt.Errorf("wait for the default service account of %s: %w", namespace, ctx.Err())
		}
		w.Stop()
		if list, err = accounts.List(ctx, metav1.ListOptions{FieldSelector: selector}); err != nil {
			return fmt.Errorf("list service accounts of %s: %w", namespace, err)
		}
	}
	return nil
}
