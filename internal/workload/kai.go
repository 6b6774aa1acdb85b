package workload

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KAI is NVIDIA's KAI scheduler. Its pod grouper creates a group for each pod of a Job by
// default, so the Job opts out of it and names its own group.
type KAI struct {
	Queue string
}

// Name implements Scheduler.
func (KAI) Name() string { return "kai" }

// GroupResource implements Scheduler.
func (KAI) GroupResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2alpha2", Resource: "podgroups"}
}

// Decorate implements Scheduler.
func (k KAI) Decorate(g Group, job *batchv1.Job) []*unstructured.Unstructured {
	const optOut, groupName, queueLabel = "kai.scheduler/skip-podgrouper", "pod-group-name", "kai.scheduler/queue"
	// batch-min-member is for releases whose pod grouper does not support opting out.
	job.Annotations = annotate(job.Annotations, optOut, "true", "kai.scheduler/batch-min-member", strconv.Itoa(g.MinCount))
	job.Labels = annotate(job.Labels, queueLabel, k.Queue)
	pod := &job.Spec.Template
	pod.Annotations = annotate(pod.Annotations, optOut, "true", groupName, g.Spec.Name)
	pod.Labels = annotate(pod.Labels, queueLabel, k.Queue)
	pod.Spec.SchedulerName = "kai-scheduler"
	group := g.object(k.GroupResource().GroupVersion().String(), "PodGroup", g.Spec.Name, map[string]any{
		"minMember":         int64(g.MinCount),
		"queue":             k.Queue,
		"priorityClassName": g.Priority,
	})
	group.SetLabels(annotate(group.GetLabels(), queueLabel, k.Queue))
	return []*unstructured.Unstructured{group}
}

// Refused implements Scheduler.
func (KAI) Refused(group *unstructured.Unstructured) (string, bool) {
	return condition(group, "schedulingConditions", "UnschedulableOnNodePool", "True")
}
