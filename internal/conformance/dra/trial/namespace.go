package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// removeWithin bounds the removal of what a check created, also when the check
// itself is ended.
const removeWithin = 3 * time.Minute

// level of pod security in the namespace: it refuses what would open a way to
// devices beside claims (host paths, privileged containers).
const level = "baseline"

// Open makes a namespace of the run's own for one check's pods, with the level
// baseline of pod security; what an attempt before left in it goes first. Close
// removes it; the run's PriorityClass is shared
// with other checks and stays until the run is cleaned up.
func Open(ctx context.Context, cluster *kube.Cluster, runID, suffix string, now clock.PassiveClock) (Runner, error) {
	r := Runner{Cluster: cluster, RunID: runID, Namespace: kube.NamespaceOf(runID) + "-" + suffix, Clock: now}
	if err := r.Close(ctx); err != nil {
		return r, err
	}
	labels := kube.Labels(runID, "")
	labels["pod-security.kubernetes.io/enforce"] = level
	if _, err := cluster.Client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.Namespace, Labels: labels}}, metav1.CreateOptions{}); err != nil {
		return r, errors.Join(fmt.Errorf("create namespace %s: %w", r.Namespace, err), r.Close(ctx))
	}
	if err := (kube.Guest{Cluster: cluster}).EnsureIn(ctx, runID, r.Namespace); err != nil {
		return r, errors.Join(fmt.Errorf("open namespace %s: %w", r.Namespace, err), r.Close(ctx))
	}
	return r, nil
}

// Close removes the namespace with everything in it and waits until its GPUs are
// free and it is gone. One that is empty and waits for an API that does not answer is
// left to its end. One that is not the run's is left alone, and an error.
func (r Runner) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	api := r.Cluster.Client.CoreV1().Namespaces()
	asked := false
	var unanswered time.Time // since when it is empty and waits for an API
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		ns, err := api.Get(ctx, r.Namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err == nil && ns.Labels[kube.LabelRun] != r.RunID {
			return fmt.Errorf("remove namespace %s: %w", r.Namespace, kube.ErrNotOurs)
		}
		if err == nil && !asked {
			err = r.end(ctx, ns)
			asked = err == nil
		}
		switch {
		case err != nil || !kube.WaitsForAPI(ns.Status):
			unanswered = time.Time{}
		case unanswered.IsZero():
			unanswered = r.Clock.Now()
		case r.Clock.Since(unanswered) >= kube.AnswerWithin:
			return nil // nothing of it holds anything; the end of the run looks for it again
		}
		if ctx.Err() != nil || apierrors.IsForbidden(err) {
			return fmt.Errorf("remove namespace %s: %w", r.Namespace, errors.Join(err, ctx.Err()))
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// end asks for the deletion of the pods, which hold claims, and the namespace.
func (r Runner) end(ctx context.Context, ns *corev1.Namespace) error {
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
