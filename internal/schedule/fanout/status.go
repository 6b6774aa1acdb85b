package fanout

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// status is the observed state of a run.
type status struct {
	shards int
	// job is nil before it is observed and after its deletion.
	job     *batchv1.Job
	pods    []corev1.Pod
	reports []corev1.ConfigMap
	// cache holds decoded reports across statuses; may be nil.
	cache map[string]decoded
	// refusals are the Job controller's FailedCreate events.
	refusals []corev1.Event
}

// of lists a shard's pods, newest last.
func (p *status) podsOfShard(shard int) []corev1.Pod {
	var out []corev1.Pod
	for i := range p.pods {
		if indexOf(&p.pods[i]) == shard {
			out = append(out, p.pods[i])
		}
	}
	slices.SortFunc(out, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// indexOf is a pod's completion index; -1 if it has none.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

// finished is the terminal condition of the Job, nil while it runs.
func (p *status) finished() (ended *batchv1.JobCondition) {
	if p.job == nil {
		return nil
	}
	for i, c := range p.job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return &p.job.Status.Conditions[i]
		}
	}
	return nil
}

// completed and failed are shards according to the Job controller.
func (p *status) completed() map[int]bool {
	if p.job == nil {
		return nil
	}
	out, err := parseIndexes(p.job.Status.CompletedIndexes, p.shards)
	if err != nil {
		return nil // none counts as completed
	}
	return out
}

func (p *status) failed() map[int]bool {
	if p.job == nil || p.job.Status.FailedIndexes == nil {
		return nil
	}
	out, err := parseIndexes(*p.job.Status.FailedIndexes, p.shards)
	if err != nil {
		return nil // not completed either
	}
	return out
}

// started reports whether the container ever started.
func started(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil || s.State.Terminated != nil && s.State.Terminated.ExitCode != exitNotStarted {
			return true
		}
	}
	return false
}

// waitReason is the waiting reason of a pod's container.
func waitReason(pod *corev1.Pod) (reason, message string) {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return w.Reason, w.Message
		}
	}
	return "", ""
}

// unschedulableMessage is the scheduler's message for an unbound pod.
func unschedulableMessage(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}
