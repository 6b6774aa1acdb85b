package testpod

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// removeTimeout limits the removal of the namespace, also after the check was interrupted.
const removeTimeout = 3 * time.Minute

// Levels of the Pod Security Standard of a namespace. Baseline refuses access to devices without
// a claim (host paths, privileged containers); Privileged admits pods with HostFiles.
const (
	Baseline   = "baseline"
	Privileged = "privileged"
)

// Open creates a namespace of the run for one check's pods; it first removes what an earlier
// attempt left there. The patches are the site's of its pods. Close removes it. The run's PriorityClass is shared with other checks
// and stays until the run is cleaned up.
func Open(ctx context.Context, cluster *kube.Cluster, runID, suffix string, patches []map[string]any, now clock.PassiveClock) (Runner, error) {
	return OpenAt(ctx, cluster, runID, suffix, Baseline, patches, now)
}

// OpenAt is Open with another level of the Pod Security Standard.
func OpenAt(ctx context.Context, cluster *kube.Cluster, runID, suffix, level string, patches []map[string]any, now clock.PassiveClock) (Runner, error) {
	r := Runner{Cluster: cluster, RunID: runID, Namespace: kube.NamespaceOf(runID) + "-" + suffix, Patches: patches, Clock: now}
	guest := kube.Guest{Cluster: cluster}
	if err := guest.Hold(ctx, runID); err != nil {
		return r, fmt.Errorf("open namespace %s: %w", r.Namespace, err)
	}
	if err := r.Close(ctx); err != nil {
		return r, err
	}
	labels := kube.Labels(runID, "")
	labels["pod-security.kubernetes.io/enforce"] = level
	if _, err := cluster.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace, Labels: labels}}, metav1.CreateOptions{}); err != nil {
		return r, errors.Join(fmt.Errorf("create namespace %s: %w", r.Namespace, err), r.Close(ctx))
	}
	if err := guest.EnsureIn(ctx, runID, r.Namespace); err != nil {
		return r, errors.Join(fmt.Errorf("prepare namespace %s: %w", r.Namespace, err), r.Close(ctx))
	}
	return r, nil
}

// Close deletes the namespace with everything in it and waits until it is removed. It
// returns early for an empty namespace that only waits for an API that does not answer. It
// does not delete a namespace of another run: that is an error.
func (r Runner) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	deleted := false
	var unansweredSince time.Time
	return poll.Until(ctx, pollInterval, "removal of namespace "+r.Namespace, func(ctx context.Context) error {
		ns, err := r.Cluster.Client.CoreV1().Namespaces().Get(ctx, r.Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil && ns.Labels[kube.LabelRun] != r.RunID {
			return poll.Stop(kube.ErrNotOurs)
		}
		if err == nil && !deleted {
			err = r.delete(ctx, ns)
			deleted = err == nil
		}
		switch {
		case apierrors.IsForbidden(err):
			return poll.Stop(err)
		case err != nil || !kube.WaitsForAPI(ns.Status):
			unansweredSince = time.Time{}
		case unansweredSince.IsZero():
			unansweredSince = r.Clock.Now()
		case r.Clock.Since(unansweredSince) >= kube.AnswerWithin:
			return nil // it holds nothing; the cleanup of the run checks it again
		}
		if err == nil {
			err = errors.New("still terminating")
		}
		return err
	})
}

// delete deletes the pods, which hold claims, and the namespace.
func (r Runner) delete(ctx context.Context, ns *corev1.Namespace) error {
	selector := metav1.ListOptions{LabelSelector: kube.LabelRun + "=" + r.RunID}
	if err := r.Cluster.Client.CoreV1().Pods(r.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, selector); err != nil {
		return fmt.Errorf("delete pods: %w", err)
	}
	err := r.Cluster.Client.CoreV1().Namespaces().Delete(ctx, ns.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(ns.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete namespace: %w", err)
	}
	return nil
}
