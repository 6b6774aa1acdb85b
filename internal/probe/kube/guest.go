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
	// ClusterEnds: the cluster was made for this run and is removed after it. Cleanup
	// then deletes an emptied namespace without waiting for its end, which Kubernetes
	// delays by 5 s (namespaceDeletionGracePeriod of its namespace controller).
	ClusterEnds bool
}

// EnsureNamespace creates the namespace and the PriorityClass of a run and
// waits until pods can be created there. It may be called again.
func (g Guest) EnsureNamespace(ctx context.Context, runID string) (namespace string, err error) {
	namespace = NamespaceOf(runID)
	if err := g.createNamespace(ctx, namespace, runID); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	if err := g.ours(ctx, namespace, runID); err != nil {
		return "", err
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return "", err
	}
	return namespace, g.awaitServiceAccount(ctx, namespace)
}

// EnsureIn is EnsureNamespace for a namespace that was asked for: one that is
// there is used and stays as it is; one that is not is the run's own.
func (g Guest) EnsureIn(ctx context.Context, runID, namespace string) error {
	_, err := g.Cluster.Client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if err := g.createNamespace(ctx, namespace, runID); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create namespace %s: %w", namespace, err)
		}
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", namespace, err)
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return err
	}
	return g.awaitServiceAccount(ctx, namespace)
}

func (g Guest) createNamespace(ctx context.Context, namespace, runID string) error {
	// Pods of the fabric tests lock memory for RDMA, which the baseline level of
	// pod security refuses.
	labels := Labels(runID, "")
	labels["pod-security.kubernetes.io/enforce"] = "privileged"
	_, err := g.Cluster.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels},
	}, metav1.CreateOptions{})
	return err //nolint:wrapcheck // the callers say what for
}

func (g Guest) ensurePriorityClass(ctx context.Context, runID string) error {
	never := corev1.PreemptNever
	_, err := g.Cluster.Client.SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta:       metav1.ObjectMeta{Name: PriorityClassOf(runID), Labels: Labels(runID, "")},
		Value:            priorityValue,
		PreemptionPolicy: &never,
		Description:      "Pods of firstlight's run " + runID + ": they wait, they preempt nothing.",
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create priority class %s: %w", PriorityClassOf(runID), err)
	}
	return nil
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
