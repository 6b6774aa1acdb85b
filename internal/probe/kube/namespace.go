package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// AnswerWithin is how long Cleanup waits for an aggregated API that does not respond; see
// WaitsForAPI.
const AnswerWithin = 20 * time.Second

// ErrAPIUnavailable is returned for a namespace without known content that is still
// terminating, because the namespace controller waits for an API that does not respond.
var ErrAPIUnavailable = errors.New("it has no known content, but an aggregated API does not respond: " +
	"repair or delete its APIService (kubectl get apiservices: AVAILABLE is False), and the namespace controller removes the namespace")

// OnlyAPIUnavailable reports whether nothing but namespaces of ErrAPIUnavailable was left by
// the clean-up that returned err.
func OnlyAPIUnavailable(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !OnlyAPIUnavailable(err) })
	}
	return errors.Is(err, ErrAPIUnavailable)
}

// deleteNamespace empties a namespace and requests its deletion.
func (g Guest) deleteNamespace(ctx context.Context, runID string, ns *corev1.Namespace) error {
	if err := errors.Join(g.drain(ctx, ns.Name), g.Cluster.ReleasePodGroups(ctx, ns.Name, runID)); err != nil {
		return err
	}
	err := g.Cluster.Client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(ns.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete namespace %s: %w", ns.Name, err)
	}
	return nil
}

// drain deletes every Job and pod of a namespace and waits until no pod is left.
func (g Guest) drain(ctx context.Context, namespace string) error {
	background := metav1.DeletePropagationBackground
	err := g.Cluster.Client.BatchV1().Jobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete jobs of %s: %w", namespace, err)
	}
	pods := g.Cluster.Client.CoreV1().Pods(namespace)
	var left []corev1.Pod
	err = waitUntilEmpty(ctx, "the end of the pods", func(ctx context.Context) (int, error) {
		if err := pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return 0, fmt.Errorf("delete pods of %s: %w", namespace, err)
		}
		list, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, fmt.Errorf("list pods of %s: %w", namespace, err)
		}
		left = list.Items
		return len(left), nil
	})
	if err != nil && len(left) > 0 {
		return fmt.Errorf("remove %d pods of %s, %s first: %w", len(left), namespace, left[0].Name, err)
	}
	return err
}

// waitNamespaceGone waits until a namespace that is being deleted no longer exists.
func (g Guest) waitNamespaceGone(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	namespaces := g.Cluster.Client.CoreV1().Namespaces()
	selector := fields.OneTermEqualSelector("metadata.name", name).String()
	status := ""
	var unresponsive *time.Timer
	err := waitUntilEmpty(ctx, "its removal", func(ctx context.Context) (int, error) {
		list, err := namespaces.List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil || len(list.Items) == 0 {
			return 0, err
		}
		status = ": " + terminationStatus(list.Items[0].Status)
		switch waits := WaitsForAPI(list.Items[0].Status); {
		case waits && unresponsive == nil:
			unresponsive = time.AfterFunc(AnswerWithin, func() { cancel(ErrAPIUnavailable) })
		case !waits && unresponsive != nil:
			unresponsive.Stop()
			unresponsive = nil
		}
		return 1, nil
	})
	if unresponsive != nil {
		unresponsive.Stop()
	}
	if err != nil {
		return fmt.Errorf("namespace %s is still terminating%s: %w", name, status, err)
	}
	return nil
}

// terminationStatus joins the true conditions of a namespace that is being deleted.
func terminationStatus(s corev1.NamespaceStatus) string {
	var out []string
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue {
			out = append(out, string(c.Type)+": "+c.Message)
		}
	}
	if len(out) == 0 {
		return "phase " + string(s.Phase)
	}
	return strings.Join(out, "; ")
}

// WaitsForAPI reports whether a terminating namespace is empty as far as is known, and some
// API does not respond: the namespace controller removes a namespace only after it has
// queried every API for content.
func WaitsForAPI(s corev1.NamespaceStatus) bool {
	unresponsive := false
	for _, c := range s.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case corev1.NamespaceDeletionDiscoveryFailure:
			unresponsive = true
		case corev1.NamespaceContentRemaining, corev1.NamespaceFinalizersRemaining, corev1.NamespaceDeletionContentFailure:
			return false
		case corev1.NamespaceDeletionGVParsingFailure:
		}
	}
	return unresponsive
}
