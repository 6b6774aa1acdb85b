package workload

import (
	"fmt"

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

// holds explains, from the Workloads of a job without pods, why Kueue does not let it run.
func (Kueue) holds(groups []*unstructured.Unstructured, kind Kind) []string {
	if len(groups) == 0 {
		return []string{"kueue: has created no Workload of the job: see that integrations.frameworks of Kueue's configuration has the kind of " + KindResource(KindName(kind))}
	}
	var out []string
	for _, group := range groups {
		if reason, evicted := conditionField(group, "conditions", "Evicted", "True", "reason"); evicted {
			message, _ := condition(group, "conditions", "Evicted", "True")
			out = append(out, fmt.Sprintf("kueue: evicted (%s): %s", reason, message))
		}
		checks, _, err := unstructured.NestedSlice(group.Object, "status", "admissionChecks")
		if err != nil {
			continue
		}
		for _, c := range checks {
			if check, ok := c.(map[string]any); ok && check["state"] != "Ready" {
				out = append(out, fmt.Sprintf("kueue: admission check %v is %v: %v", check["name"], check["state"], check["message"]))
			}
		}
		if cluster := remoteCluster(group); cluster != "" {
			out = append(out, "kueue: MultiKueue runs the job in cluster "+cluster+": no pod of it is created in this one")
		}
	}
	return out
}

// remoteCluster is the cluster in which MultiKueue runs the job of a Workload; empty: this one.
func remoteCluster(group *unstructured.Unstructured) string {
	cluster, _, err := unstructured.NestedString(group.Object, "status", "clusterName")
	if err != nil {
		return ""
	}
	return cluster
}

// Refused implements Scheduler.
func (Kueue) Refused(group *unstructured.Unstructured) (string, bool) {
	return condition(group, "conditions", "QuotaReserved", "False")
}
