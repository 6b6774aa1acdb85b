package fanout

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// picture is what is known of a run at one moment.
type picture struct {
	shards int
	// job is nil before it is seen, and when it is gone.
	job     *batchv1.Job
	pods    []corev1.Pod
	reports []corev1.ConfigMap
	// told keeps what was read of reports from one picture to the next; nil: nothing does.
	told map[string]said
	// refusals are the Job controller's words on pods that it may not create.
	refusals []corev1.Event
}

// of is what a shard's pods are, the newest last.
func (p *picture) of(shard int) []corev1.Pod {
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

// indexOf is a pod's index; -1 when it has none.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}

// over says how the Job ended, if it has.
func (p *picture) over() (ended *batchv1.JobCondition) {
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

// completed and failed are the shards that the Job controller says are so.
func (p *picture) completed() map[int]bool {
	if p.job == nil {
		return nil
	}
	out, err := parseIndexes(p.job.Status.CompletedIndexes, p.shards)
	if err != nil {
		return nil // then none counts as completed
	}
	return out
}

func (p *picture) failed() map[int]bool {
	if p.job == nil || p.job.Status.FailedIndexes == nil {
		return nil
	}
	out, err := parseIndexes(*p.job.Status.FailedIndexes, p.shards)
	if err != nil {
		return nil // then they are not completed either
	}
	return out
}

// ran says whether the program ever began to run in a pod.
func ran(pod *corev1.Pod) bool {
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Running != nil || s.State.Terminated != nil && s.State.Terminated.ExitCode != exitNotStarted {
			return true
		}
	}
	return false
}

// waitingFor is what the kubelet says that a container waits for.
func waitingFor(pod *corev1.Pod) (reason, message string) {
	for _, s := range pod.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "" {
			return w.Reason, w.Message
		}
	}
	return "", ""
}

// unplaced is the scheduler's word on a pod that it did not place.
func unplaced(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}
