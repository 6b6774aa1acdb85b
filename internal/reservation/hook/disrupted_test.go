package hook

import (
	"context"
	"errors"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod that its cluster ends, when a node is drained for instance, has not answered: the attempt is repeated.
// Exit statuses, conditions and reasons are those of Kubernetes.
func TestDisruptedPodHasNotAnswered(t *testing.T) {
	client := cluster(t)
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	condition := func(since time.Duration) []corev1.PodCondition {
		return []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
			LastTransitionTime: metav1.NewTime(now.Add(since)),
		}}
	}
	for name, c := range map[string]struct {
		status     int32
		conditions []corev1.PodCondition
		disrupted  bool
	}{
		"evicted":                   {143, condition(-10 * time.Second), true},
		"evicted-and-killed":        {137, condition(-10 * time.Second), true},
		"killed-for-memory":         {137, nil, false},
		"failed":                    {1, nil, false},
		"failed-before-an-eviction": {1, condition(10 * time.Second), false},
		"done-during-an-eviction":   {0, condition(-10 * time.Second), false},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobs(t, client)
			j.Logs = func(context.Context, string, string, string) ([]byte, error) { return []byte("one\n"), nil }
			r := ofReservation("disrupted-"+name, Test)
			answer := call(t, t.Context(), j, r)
			pod := podOf(t, client, theJob(t, client, r))
			pod.Status.Conditions = c.conditions
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: c.status, StartedAt: now, FinishedAt: now, Reason: "Error"},
			}}}
			if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			got := <-answer
			if errors.Is(got.err, ErrDisrupted) != c.disrupted || errors.Is(got.err, ErrTemporary) != c.disrupted || got.err == nil && got.out.Status != int(c.status) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A pod may be deleted without a condition. Jobs deletes its own pods only when it no longer reads them.
func TestDeletedPodIsDisrupted(t *testing.T) {
	t.Parallel()
	finished := metav1.NewTime(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC))
	for asked, want := range map[time.Duration]string{-5 * time.Second: "it was deleted", 5 * time.Second: ""} {
		end := metav1.NewTime(finished.Add(asked + 15*time.Second))
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &end, DeletionGracePeriodSeconds: new(int64(15))},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "hook"}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: finished},
			}}}},
		}
		if got := disrupted(pod); got != want {
			t.Errorf("deleted %s after its end: %q", asked, got)
		}
	}
}

// A hook that failed before its pod was disrupted has failed by itself.
func TestHookThatFailedBeforeADisruption(t *testing.T) {
	t.Parallel()
	finished := metav1.NewTime(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC))
	for asked, want := range map[time.Duration]string{-5 * time.Second: "EvictionByEvictionAPI drained", 5 * time.Second: ""} {
		pod := &corev1.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "hook"}}},
			Status: corev1.PodStatus{
				Conditions: []corev1.PodCondition{{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "drained", LastTransitionTime: metav1.NewTime(finished.Add(asked)),
				}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: finished}}}},
			},
		}
		if got := disrupted(pod); got != want {
			t.Errorf("disrupted %s after its end: %q", asked, got)
		}
	}
}

// A Job that failed and has no pod was disrupted: a hook that fails leaves its pod. A timeout also removes it,
// perhaps before the Job has a condition.
func TestPodOfAJobThatTimedOut(t *testing.T) {
	t.Parallel()
	for reason, late := range map[string]bool{batchv1.JobReasonBackoffLimitExceeded: false, batchv1.JobReasonDeadlineExceeded: true} {
		job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: reason}}}}
		if timedOut(job, nil) != late || failed(job) == "" {
			t.Errorf("%s: timed out: %t", reason, timedOut(job, nil))
		}
	}
	start := metav1.NewTime(time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC))
	job := &batchv1.Job{Spec: batchv1.JobSpec{ActiveDeadlineSeconds: new(int64(600))}, Status: batchv1.JobStatus{StartTime: &start}}
	for after, late := range map[time.Duration]bool{5 * time.Minute: false, 10 * time.Minute: true} {
		end := metav1.NewTime(start.Add(after + 15*time.Second))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &end, DeletionGracePeriodSeconds: new(int64(15))}}
		if timedOut(job, pod) != late {
			t.Errorf("deleted after %s: timed out: %t", after, !late)
		}
	}
}
