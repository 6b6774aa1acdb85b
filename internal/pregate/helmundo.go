package pregate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// deployedRevision is the revision that an upgrade is rolled back to; 0 without one.
func deployedRevision(cfg *action.Configuration, name string) (int, error) {
	found, err := cfg.Releases.Deployed(name)
	if errors.Is(err, driver.ErrNoDeployedReleases) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	r, ok := found.(*releasev1.Release)
	if !ok {
		return 0, fmt.Errorf("unexpected Helm release %T", found)
	}
	return r.Version, nil
}

// latest reports whether the last revision of a release is the one that this run has created. Another program may have
// created one of the same number; the time of a revision does not change.
func (s *session) latest(name string) (bool, error) {
	if s.made == nil {
		return false, nil
	}
	now, err := last(s.Configuration, name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return now.Version == s.made.Version && now.Info.LastDeployed.Equal(s.made.Info.LastDeployed), nil
}

// undo returns the cluster to the state before this run's revision, and says how. It uninstalls only what did not exist.
func (r *release) undo(s *session, before state) (string, error) {
	cfg := s.Configuration
	if before.exists && before.revision == 0 {
		return fmt.Sprintf("not rolled back: none of the revisions up to %d, the last before this run, is deployed", before.last), nil
	}
	if before.exists {
		rollback := action.NewRollback(cfg)
		rollback.Version, rollback.Timeout, rollback.WaitStrategy, rollback.MaxHistory = before.revision, r.timeout, r.wait(), s.settings.MaxHistory
		if err := rollback.Run(r.spec.Release); err != nil {
			return "", fmt.Errorf("roll back to revision %d: %w", before.revision, err)
		}
		return fmt.Sprintf("rolled back to revision %d", before.revision), nil
	}
	uninstall := action.NewUninstall(cfg)
	uninstall.Timeout, uninstall.WaitStrategy = r.timeout, kube.StatusWatcherStrategy
	if _, err := uninstall.Run(r.spec.Release); err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	return "rolled back: uninstalled, there was no release before", nil
}

// unready explains what Helm reports only by kind and name: why the release's pods are not ready.
func unready(ctx context.Context, cfg *action.Configuration, name string) error {
	config, err := cfg.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	r, err := last(cfg, name)
	if err != nil {
		return nil //nolint:nilerr // nothing was created
	}
	pods, err := client.CoreV1().Pods(r.Namespace).List(context.WithoutCancel(ctx), metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods of release %s: %w", name, err)
	}
	var lines []string
	for i := range pods.Items {
		if why := notReady(&pods.Items[i]); why != "" {
			lines = append(lines, fmt.Sprintf("pod %s: %s", pods.Items[i].Name, why))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	slices.SortFunc(lines, byCause)
	const most = 8 // one message; a broken image fails on every node
	if n := len(lines); n > most {
		lines = append(lines[:most], fmt.Sprintf("and %d more pods", n-most))
	}
	return errors.New(strings.Join(lines, "; "))
}

// byCause orders pods that only wait behind those that have a cause of their own.
func byCause(a, b string) int {
	waits := func(line string) int { return strings.Count(line, ": ContainersNotReady: ") }
	return cmp.Or(waits(a)-waits(b), cmp.Compare(a, b))
}

// waiting are the containers that cannot be started or started again.
func waiting(p *corev1.Pod) []corev1.ContainerStatus {
	return slices.DeleteFunc(slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		w := s.State.Waiting
		return w == nil || w.Reason == "ContainerCreating" || w.Reason == "PodInitializing"
	})
}

// notReady is the reason why a pod is not ready; empty: it is, or has ended.
func notReady(p *corev1.Pod) string {
	if p.Status.Phase == corev1.PodSucceeded {
		return ""
	}
	if w := waiting(p); len(w) > 0 {
		return fmt.Sprintf("container %s: %s: %s", w[0].Name, w[0].State.Waiting.Reason, w[0].State.Waiting.Message)
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodReady} {
		for _, c := range p.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionFalse {
				return fmt.Sprintf("%s: %s", c.Reason, c.Message)
			}
		}
	}
	return ""
}
