package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrFailed is in the error of a wait that cannot succeed any more: a pod or the Job failed,
// or a container cannot start.
var ErrFailed = errors.New("failed")

// ErrReplaced is in the error of a wait for the end of a gang that may not restart, if placed pods of it
// were deleted and created again: their logs are not the output of one run.
var ErrReplaced = errors.New("is not one run")

// Pods lists the pods of the gang's Job in the order of their index.
func (g *Gang) Pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := g.cluster.Client.CoreV1().Pods(g.Namespace).List(ctx, metav1.ListOptions{LabelSelector: g.selector()})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", g.Spec.Name, err)
	}
	pods := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !g.isMember(&p) })
	sortPods(pods)
	return pods, nil
}

// Logs opens the current log of one of its pods.
func (g *Gang) Logs(ctx context.Context, pod string) (io.ReadCloser, error) {
	return g.cluster.PodLogs(ctx, g.Namespace, pod, g.container(), false)
}

// FollowLogs opens the log of one of its pods, and streams it until the container ends: also what a kubelet has rotated
// away since.
func (g *Gang) FollowLogs(ctx context.Context, pod string) (io.ReadCloser, error) {
	return g.cluster.PodLogs(ctx, g.Namespace, pod, g.container(), true)
}

// container is the name of the gang's container in its pods.
func (g *Gang) container() string {
	if _, renamed := g.kind.(TrainJob); renamed {
		return trainerContainer
	}
	return g.Spec.Container
}

// WaitBound waits until every pod is placed on a node.
func (g *Gang) WaitBound(ctx context.Context) error {
	return g.wait(ctx, "be placed", func(s state) (bool, error) {
		return g.placementOf(s).Bound >= g.Spec.Pods, g.terminalError(s)
	})
}

// WaitRunning waits until every pod runs or has succeeded. It returns ErrFailed if a
// container cannot start or a pod has failed.
func (g *Gang) WaitRunning(ctx context.Context) error {
	return g.wait(ctx, "run", func(s state) (bool, error) {
		running := 0
		for _, pod := range members(s.pods) {
			switch pod.Status.Phase {
			case corev1.PodRunning, corev1.PodSucceeded:
				running++
			case corev1.PodPending, corev1.PodFailed, corev1.PodUnknown:
			}
		}
		if err := g.terminalError(s); err != nil {
			return false, err
		}
		return running >= g.Spec.Pods, nil
	})
}

// WaitDone waits until every pod has terminated or the Job has failed. A failed pod is a
// Result, not an error.
func (g *Gang) WaitDone(ctx context.Context) (Result, error) {
	var result Result
	err := g.wait(ctx, "end", func(s state) (done bool, err error) {
		result, done, err = g.end(s)
		return done, err
	})
	return result, err
}

// end is the result of a gang, and whether it has ended. The error is ErrFailed or ErrReplaced.
func (g *Gang) end(s state) (result Result, done bool, err error) {
	result = resultOf(g.Spec, s)
	if s.job == nil && len(s.pods) == 0 {
		return result, false, fmt.Errorf("%w: its job was deleted", ErrFailed)
	}
	ended := 0
	for _, p := range result.Pods {
		if p.ended() {
			ended++
		}
		if p.Stuck != "" {
			return result, false, fmt.Errorf("%w: pod %s on %s: %s", ErrFailed, p.Pod, p.Node, p.Stuck)
		}
	}
	if result.Succeeded && g.Spec.Restarts == 0 {
		if n := g.replaced(s.pods); n > 0 {
			result.Succeeded = false
			return result, false, fmt.Errorf("%w: %d of its pods had been deleted after their placement, and were created again", ErrReplaced, n)
		}
	}
	return result, result.Reason != "" || ended >= g.Spec.Pods, nil
}

// wait is until with an explanation in the error.
func (g *Gang) wait(ctx context.Context, what string, done func(state) (bool, error)) error {
	err := g.until(ctx, done)
	if err == nil {
		return nil
	}
	return fmt.Errorf("wait for %s to %s: %w: %s", g.Spec.Name, what, err, g.Explain(context.WithoutCancel(ctx)))
}

// terminalError explains why a gang can never run; nil if it can.
func (g *Gang) terminalError(s state) error {
	if s.job != nil && s.job.failed != "" {
		return fmt.Errorf("%w: job: %s", ErrFailed, s.job.failed)
	}
	for i := range s.pods {
		pod := &s.pods[i]
		if pod.Status.Phase == corev1.PodFailed {
			return fmt.Errorf("%w: %s", ErrFailed, outcomeOf(pod).String())
		}
		if reason := stuck(pod); reason != "" {
			return fmt.Errorf("%w: pod %s on %s: %s", ErrFailed, pod.Name, pod.Spec.NodeName, reason)
		}
	}
	return nil
}

func jobCondition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &job.Status.Conditions[i]
}
