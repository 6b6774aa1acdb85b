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
// waits until pods can be created there. A namespace that an administrator made is
// used as it is. It may be called again.
func (g Guest) EnsureNamespace(ctx context.Context, runID string) (namespace string, err error) {
	if g.Cluster.Namespace != "" {
		return g.Cluster.Namespace, g.EnsureIn(ctx, runID, g.Cluster.Namespace)
	}
	namespace = NamespaceOf(runID)
	if err := g.own(ctx, namespace, runID, Labels(runID, ""), nil); err != nil {
		return "", err
	}
	if err := g.hold(ctx, runID); err != nil {
		return "", err
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return "", err
	}
	return namespace, g.awaitServiceAccount(ctx, namespace)
}

// EnsurePrivileged is EnsureNamespace for a gate whose pods the baseline level of pod
// security refuses, for the reason given. They get a namespace of their own; where an
// administrator made the namespace, its level is for them to choose.
func (g Guest) EnsurePrivileged(ctx context.Context, runID, gate, reason string) (namespace string, err error) {
	namespace, err = g.EnsureNamespace(ctx, runID)
	if err != nil || g.Cluster.Namespace != "" {
		return namespace, err
	}
	namespace = privilegedOf(runID, gate)
	labels := Labels(runID, gate)
	labels[podSecurity] = "privileged"
	if err := g.own(ctx, namespace, runID, labels, map[string]string{podSecurityReason: reason}); err != nil {
		return "", err
	}
	return namespace, g.awaitServiceAccount(ctx, namespace)
}

func privilegedOf(runID, gate string) string { return NamespaceOf(runID) + "-" + gate }

// The level of pod security of a namespace, and why it is not baseline.
const (
	podSecurity       = "pod-security.kubernetes.io/enforce"
	podSecurityReason = "firstlight.dev/pod-security"
)

// own creates a namespace of the run, and refuses one that is not the run's.
func (g Guest) own(ctx context.Context, namespace, runID string, labels, annotations map[string]string) error {
	if err := g.createNamespace(ctx, namespace, labels, annotations); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	return g.ours(ctx, namespace, runID)
}

// EnsureIn is EnsureNamespace for a namespace that was asked for: one that is
// there is used and stays as it is; one that is not is the run's own.
func (g Guest) EnsureIn(ctx context.Context, runID, namespace string) error {
	_, err := g.Cluster.Client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if err := g.createNamespace(ctx, namespace, Labels(runID, ""), nil); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create namespace %s: %w", namespace, err)
		}
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", namespace, err)
	}
	if err := g.hold(ctx, runID); err != nil {
		return err
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return err
	}
	return g.awaitServiceAccount(ctx, namespace)
}

// hold has the run's Lease renewed, which is in the namespace that all of the run's checks
// share.
func (g Guest) hold(ctx context.Context, runID string) error {
	if g.Cluster.Hold == nil {
		return nil
	}
	if g.Cluster.Namespace == "" {
		if err := g.own(ctx, NamespaceOf(runID), runID, Labels(runID, ""), nil); err != nil {
			return err
		}
	}
	return g.Cluster.Hold(ctx)
}

// createNamespace creates one with the level baseline of pod security, unless labels say
// another.
func (g Guest) createNamespace(ctx context.Context, namespace string, labels, annotations map[string]string) error {
	if labels[podSecurity] == "" {
		labels[podSecurity] = "baseline"
	}
	_, err := g.Cluster.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels, Annotations: annotations},
	}, metav1.CreateOptions{})
	return err
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
