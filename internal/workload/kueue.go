package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kueue keeps the Job suspended until its quota admits it.
type Kueue struct {
	// Queue is the ClusterQueue of the gang's LocalQueue.
	Queue string
	// Version is the served version of its API: v1beta1 or v1beta2.
	Version string
}

// Name implements Scheduler.
func (Kueue) Name() string { return "kueue" }

// GroupResource implements Scheduler: Kueue creates a Workload for the Job.
func (k Kueue) GroupResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: k.Version, Resource: "workloads"}
}

// Decorate implements Scheduler. The Job starts suspended: without a running Kueue it never
// runs.
func (k Kueue) Decorate(g Group, job *batchv1.Job) []*unstructured.Unstructured {
	job.Labels = annotate(job.Labels, "kueue.x-k8s.io/queue-name", g.Spec.Name)
	job.Spec.Suspend = new(true)
	return []*unstructured.Unstructured{g.object(k.GroupResource().GroupVersion().String(), "LocalQueue", g.Spec.Name, map[string]any{
		"clusterQueue": k.Queue,
	})}
}

// Refused implements Scheduler.
func (Kueue) Refused(group *unstructured.Unstructured) (string, bool) {
	return condition(group, "conditions", "QuotaReserved", "False")
}
