package workload

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// JobSet runs a gang as the only Job of a JobSet.
type JobSet struct{}

// Name implements Kind.
func (JobSet) Name() string { return "jobset" }

// Resource implements Kind.
func (JobSet) Resource() schema.GroupVersionResource { return kube.JobSets() }

// Chain implements Kind.
func (JobSet) Chain() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{kube.JobSets()}
}

// Hosts implements Kind.
func (JobSet) Hosts(name string, pods int) []string {
	return hosts(name, name+"-"+replica+"-0-", pods)
}

// Convert implements Kind. JobSet creates the Service.
func (k JobSet) Convert(m *Manifests, _ Spec) error {
	job, err := jobFields(m.Job, m.Job.Labels)
	if err != nil {
		return err
	}
	spec := jobSetSpec(job)
	if suspended(m.Job) {
		spec["suspend"] = true
	}
	m.Service = nil
	m.Jobs = []*unstructured.Unstructured{object(m.Job, k.Resource().GroupVersion().String(), "JobSet", spec)}
	return nil
}

func jobSetSpec(job map[string]any) map[string]any {
	return map[string]any{
		"failurePolicy":  map[string]any{"maxRestarts": int64(0)},
		"replicatedJobs": []any{map[string]any{"name": replica, "replicas": int64(1), "template": job}},
	}
}

// Failed implements Kind.
func (JobSet) Failed(job *unstructured.Unstructured) (string, bool) {
	return failedCondition(job)
}

// failedCondition is the reason and message of a condition Failed.
func failedCondition(job *unstructured.Unstructured) (string, bool) {
	reason, failed := conditionField(job, "conditions", "Failed", "True", "reason")
	message, _ := condition(job, "conditions", "Failed", "True")
	return reason + ": " + message, failed
}
