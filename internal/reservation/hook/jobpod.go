package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/evidence/redact"
	"github.com/firstlight/firstlight/internal/poll"
)

// ended returns the termination of the hook's container, or nil.
func ended(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	first := pod.Spec.Containers[0].Name
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == first {
			return c.State.Terminated
		}
	}
	return nil
}

// ErrDisrupted means that the cluster ended the pod of a hook, to drain its node for instance. It is an
// ErrTemporary.
var ErrDisrupted = fmt.Errorf("%w: the cluster ended the hook", ErrTemporary)

// disrupted says why the cluster ended the container of a terminated pod; empty if it ended by itself. An exit
// status of 0 or 75 is its own, and so is one from before the disruption. Jobs deletes pods only when they have
// ended.
func disrupted(pod *corev1.Pod) string {
	state := ended(pod)
	if state.ExitCode == ExitDone || state.ExitCode == ExitTemporary {
		return ""
	}
	later := func(began time.Time) bool { return !state.FinishedAt.IsZero() && state.FinishedAt.Time.Before(began) }
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && !later(c.LastTransitionTime.Time) {
			return strings.TrimSpace(c.Reason + " " + c.Message)
		}
	}
	if at := deletionBegan(pod); !at.IsZero() && !later(at) {
		return "it was deleted"
	}
	return ""
}

// deletionBegan returns when the deletion of a pod was requested; zero: it was not.
func deletionBegan(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	grace := int64(0)
	if s := pod.DeletionGracePeriodSeconds; s != nil {
		grace = *s
	}
	return pod.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}

// timedOut reports whether a Job reached its activeDeadlineSeconds, at which its controller deletes its pod, perhaps
// before it sets a condition.
func timedOut(job *batchv1.Job, pod *corev1.Pod) bool {
	if slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget) && c.Status == corev1.ConditionTrue && c.Reason == batchv1.JobReasonDeadlineExceeded
	}) {
		return true
	}
	start, seconds := job.Status.StartTime, job.Spec.ActiveDeadlineSeconds
	if pod == nil || start == nil || seconds == nil {
		return false
	}
	const rounding = time.Second // of the times of Kubernetes
	at := deletionBegan(pod)
	return !at.IsZero() && !at.Add(rounding).Before(start.Add(time.Duration(*seconds)*time.Second))
}

// waiting describes a pod that has not terminated.
func waiting(pod *corev1.Pod) string {
	text := []string{"pod " + pod.Name + " is " + strings.ToLower(cmp.Or(string(pod.Status.Phase), "Pending"))}
	for _, c := range pod.Status.ContainerStatuses {
		if w := c.State.Waiting; w != nil {
			text = append(text, c.Name+" is waiting: "+strings.TrimSpace(w.Reason+" "+w.Message))
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			text = append(text, "not scheduled: "+c.Message)
		}
	}
	return strings.Join(text, ", ")
}

// failed returns the reason of a failed Job; empty if it has not failed.
func failed(job *batchv1.Job) string {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
			return strings.TrimSpace(c.Reason + " " + c.Message)
		}
	}
	return ""
}

// maxLog bounds the part of a log that is read, in bytes.
const maxLog = 8 << 20

// output returns the output of a terminated pod. The response is its termination message, or the
// last line of its log.
func (j *Jobs) output(ctx context.Context, pod *corev1.Pod) (Output, error) {
	state := ended(pod)
	out := Output{Status: int(state.ExitCode)}
	log, err := j.log(ctx, pod)
	if message := strings.TrimSpace(state.Message); message != "" {
		out.Response, out.Log = []byte(message), withoutSecrets(lastLines(log, maxLines))
		return out, nil // the log is optional here
	}
	if err != nil {
		return out, fmt.Errorf("read the log of pod %s: %w: %w", pod.Name, ErrTemporary, err)
	}
	lines := lastLines(log, maxLines+1)
	if n := len(lines); n > 0 {
		out.Response, out.Log = []byte(lines[n-1]), withoutSecrets(lines[:n-1])
	}
	if state.ExitCode != 0 && !bytes.HasPrefix(out.Response, []byte("{")) {
		out.Log, out.Response = withoutSecrets(lines), nil
	}
	return out, nil
}

func (j *Jobs) log(ctx context.Context, pod *corev1.Pod) ([]byte, error) {
	container := pod.Spec.Containers[0].Name
	if j.Logs != nil {
		return j.Logs(ctx, pod.Namespace, pod.Name, container)
	}
	lines := int64(maxLines + 1)
	stream, err := j.Client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, TailLines: &lines}).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	defer stream.Close()
	data, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	return data, nil
}

// withoutSecrets redacts log lines. The response is not redacted: it is parsed and not shown.
func withoutSecrets(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = redact.String(line)
	}
	return out
}

func lastLines(log []byte, n int) []string {
	var out []string
	for line := range strings.Lines(string(log)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-n):]
}

// deleteAll deletes Jobs and their requests by label, and returns when their pods are gone.
func (j *Jobs) deleteAll(ctx context.Context, selector string) error {
	foreground := metav1.DeletePropagationForeground
	by, list := metav1.DeleteOptions{PropagationPolicy: &foreground}, metav1.ListOptions{LabelSelector: selector}
	pods := j.Client.CoreV1().Pods(j.Job.Namespace)
	err := errors.Join(
		j.Client.BatchV1().Jobs(j.Job.Namespace).DeleteCollection(ctx, by, list),
		j.Client.CoreV1().ConfigMaps(j.Job.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, list),
		pods.DeleteCollection(ctx, metav1.DeleteOptions{}, list),
	)
	if err != nil {
		return fmt.Errorf("delete the Jobs with labels %s: %w", selector, err)
	}
	return poll.Until(ctx, cmp.Or(j.Poll, time.Second), "the end of the pods with labels "+selector, func(ctx context.Context) error {
		left, err := pods.List(ctx, list)
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%d pods are left", len(left.Items))
		}
		return err
	})
}
