package workload

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// volcanoGroup is the annotation of a pod with its PodGroup.
	volcanoGroup = "scheduling.k8s.io/group-name"
	// volcanoQueue is the queue that Volcano creates itself.
	volcanoQueue = "default"
)

// Volcano schedules pods that name a Volcano PodGroup.
type Volcano struct {
	Queue string
}

// Name implements Scheduler.
func (Volcano) Name() string { return "volcano" }

// GroupResource implements Scheduler.
func (Volcano) GroupResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"}
}

// Decorate implements Scheduler.
func (v Volcano) Decorate(g Group, job *batchv1.Job) []*unstructured.Unstructured {
	pod := &job.Spec.Template
	pod.Annotations = annotate(pod.Annotations, volcanoGroup, g.Spec.Name)
	pod.Spec.SchedulerName = "volcano"
	spec := map[string]any{
		"minMember":         int64(g.MinCount),
		"queue":             v.Queue,
		"priorityClassName": g.Priority,
	}
	if resource := g.Spec.request().extended(); resource != "" {
		// Volcano admits a group to its queue by these, before it schedules pods. It compares them with the
		// resources of nodes, which have none of claims.
		spec["minResources"] = map[string]any{resource: strconv.Itoa(g.Spec.GPUs * g.MinCount)}
	}
	return []*unstructured.Unstructured{g.object(v.GroupResource().GroupVersion().String(), "PodGroup", g.Spec.Name, spec)}
}

// Refused implements Scheduler. The Unschedulable condition outlasts the refusal, so the
// phase is checked too.
func (Volcano) Refused(group *unstructured.Unstructured) (string, bool) {
	phase, _, err := unstructured.NestedString(group.Object, "status", "phase")
	if err != nil || (phase != "Pending" && phase != "Inqueue" && phase != "Unknown") {
		return "", false
	}
	return condition(group, "conditions", "Unschedulable", "True")
}
