package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
)

// priorityValue is below that of ordinary pods (0): in a full cluster the pods of a run wait.
const priorityValue = -10

// Guest creates and removes the namespaces and priority classes of runs in a cluster that
// other workloads use.
type Guest struct {
	Cluster *Cluster
	// ClusterEnds: the cluster was created for this run and is deleted after it. Cleanup
	// then does not wait until an emptied namespace is deleted, which the namespace
	// controller delays by 5 s (namespaceDeletionGracePeriod).
	ClusterEnds bool
}

// EnsureNamespace creates the namespace and the PriorityClass of a run and waits until pods
// can be created there. It leaves a namespace that an administrator created unchanged. It is
// idempotent.
func (g Guest) EnsureNamespace(ctx context.Context, runID string) (namespace string, err error) {
	if g.Cluster.Namespace != "" {
		return g.Cluster.Namespace, g.EnsureIn(ctx, runID, g.Cluster.Namespace)
	}
	namespace = NamespaceOf(runID)
	if err := g.own(ctx, namespace, runID, Labels(runID, ""), nil); err != nil {
		return "", err
	}
	if err := g.Hold(ctx, runID); err != nil {
		return "", err
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return "", err
	}
	return namespace, g.waitServiceAccount(ctx, namespace)
}

// EnsurePrivileged is EnsureNamespace for a gate whose pods violate the baseline Pod
// Security Standard, for the given reason. They get a separate namespace. In a namespace
// that an administrator created, the administrator sets the level.
func (g Guest) EnsurePrivileged(ctx context.Context, runID, gate, reason string) (namespace string, err error) {
	namespace, err = g.EnsureNamespace(ctx, runID)
	if err != nil || g.Cluster.Namespace != "" {
		return namespace, err
	}
	namespace = privilegedOf(runID, gate)
	labels := PrivilegedLabels(runID, gate)
	if err := g.own(ctx, namespace, runID, labels, map[string]string{podSecurityReason: reason}); err != nil {
		return "", err
	}
	return namespace, g.waitServiceAccount(ctx, namespace)
}

// PrivilegedLabels are the labels of the namespace of a gate whose pods violate the baseline Pod
// Security Standard.
func PrivilegedLabels(runID, gate string) map[string]string {
	labels := Labels(runID, gate)
	labels[podSecurity] = "privileged"
	return labels
}

func privilegedOf(runID, gate string) string { return NamespaceOf(runID) + "-" + gate }

// The Pod Security Standard of a namespace, and the reason when it is not baseline.
const (
	podSecurity       = "pod-security.kubernetes.io/enforce"
	podSecurityReason = "firstlight.dev/pod-security"
)

// own creates a namespace of the run; ErrNotOurs if it exists without the label of the run.
func (g Guest) own(ctx context.Context, namespace, runID string, labels, annotations map[string]string) error {
	if err := g.createNamespace(ctx, namespace, labels, annotations); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	return g.requireOwned(ctx, namespace, runID)
}

// EnsureIn is EnsureNamespace for a given namespace: an existing one stays unchanged, a
// missing one is created with the label of the run.
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
	if err := g.Hold(ctx, runID); err != nil {
		return err
	}
	if err := g.ensurePriorityClass(ctx, runID); err != nil {
		return err
	}
	return g.waitServiceAccount(ctx, namespace)
}

// Hold renews the Lease of the run, which is in the namespace shared by its checks. It comes
// before the first object of the run; the Ensure methods call it.
func (g Guest) Hold(ctx context.Context, runID string) error {
	g.creating()
	if g.Cluster.RenewLease == nil {
		return nil
	}
	if g.Cluster.Namespace == "" {
		if err := g.own(ctx, NamespaceOf(runID), runID, Labels(runID, ""), nil); err != nil {
			return err
		}
	}
	return g.Cluster.RenewLease(ctx)
}

func (g Guest) creating() {
	if g.Cluster.Creating != nil {
		g.Cluster.Creating()
	}
}

// Release deletes the Lease of the run before its namespace is deleted.
func (g Guest) Release(ctx context.Context) error {
	if g.Cluster.ReleaseLease == nil {
		return nil
	}
	return g.Cluster.ReleaseLease(ctx)
}

// createNamespace creates a namespace with the baseline Pod Security Standard unless labels
// set another level.
func (g Guest) createNamespace(ctx context.Context, namespace string, labels, annotations map[string]string) error {
	g.creating()
	_, err := g.Cluster.Client.CoreV1().Namespaces().Create(ctx, RunNamespace(namespace, labels, annotations), metav1.CreateOptions{})
	return err
}

// RunNamespace is a namespace with the baseline Pod Security Standard unless labels set another
// level.
func RunNamespace(name string, labels, annotations map[string]string) *corev1.Namespace {
	labels[podSecurity] = cmp.Or(labels[podSecurity], "baseline")
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
}

func (g Guest) ensurePriorityClass(ctx context.Context, runID string) error {
	_, err := g.Cluster.Client.SchedulingV1().PriorityClasses().Create(ctx, RunPriorityClass(runID), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create priority class %s: %w", PriorityClassOf(runID), err)
	}
	return nil
}

// RunPriorityClass is the PriorityClass of a run.
func RunPriorityClass(runID string) *schedulingv1.PriorityClass {
	return &schedulingv1.PriorityClass{
		ObjectMeta:       metav1.ObjectMeta{Name: PriorityClassOf(runID), Labels: Labels(runID, "")},
		Value:            priorityValue,
		PreemptionPolicy: new(corev1.PreemptNever),
		Description:      "Pods of firstlight run " + runID + ": lowest priority, no preemption.",
	}
}

// ErrNotOurs is returned for an object with the name of an object of the run but without
// its label.
var ErrNotOurs = errors.New("exists and does not carry this run's label")

func (g Guest) requireOwned(ctx context.Context, namespace, runID string) error {
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

// accountInterval is short: the account exists milliseconds after its namespace.
const accountInterval = 50 * time.Millisecond

// waitServiceAccount waits for the default ServiceAccount of the namespace: the API server
// rejects a pod that is created before it exists.
func (g Guest) waitServiceAccount(ctx context.Context, namespace string) error {
	accounts := g.Cluster.Client.CoreV1().ServiceAccounts(namespace)
	selector := "metadata.name=default"
	return poll.Until(ctx, accountInterval, "the default service account of "+namespace, func(ctx context.Context) error {
		list, err := accounts.List(ctx, metav1.ListOptions{FieldSelector: selector})
		switch {
		case err != nil:
			return poll.Stop(err)
		case len(list.Items) == 0:
			return errors.New("not found")
		}
		return nil
	})
}
