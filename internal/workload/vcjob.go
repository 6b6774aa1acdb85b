package workload

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// VolcanoJob runs a gang as a Job of Volcano, whose controller creates its PodGroup.
type VolcanoJob struct {
	Queue string
}

const volcanoIndexLabel = "volcano.sh/task-index"

// Name implements Kind.
func (VolcanoJob) Name() string { return "vcjob" }

// Resource implements Kind.
func (VolcanoJob) Resource() schema.GroupVersionResource { return kube.VolcanoJobs() }

// Chain implements Kind.
func (VolcanoJob) Chain() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{kube.VolcanoJobs()}
}

// Hosts implements Kind.
func (VolcanoJob) Hosts(name string, pods int) []string {
	return hosts(name, name+"-"+replica+"-", pods)
}

// Convert implements Kind. The plugin svc creates the Service and sets the host names.
func (k VolcanoJob) Convert(m *Manifests, spec Spec) error {
	pod := m.Job.Spec.Template.DeepCopy()
	delete(pod.Annotations, volcanoGroup)
	pod.Spec.Subdomain = ""
	pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, fromLabel("JOB_COMPLETION_INDEX", volcanoIndexLabel))
	template, err := fields(pod)
	if err != nil {
		return err
	}
	m.Service, m.Groups = nil, nil
	m.Jobs = []*unstructured.Unstructured{object(m.Job, k.Resource().GroupVersion().String(), "Job", map[string]any{
		"schedulerName":     pod.Spec.SchedulerName,
		"queue":             k.Queue,
		"minAvailable":      int64(spec.minCount()),
		"maxRetry":          int64(1),
		"priorityClassName": pod.Spec.PriorityClassName,
		"plugins":           map[string]any{"svc": []any{"--publish-not-ready-addresses=true", "--disable-network-policy=true"}},
		"tasks":             []any{map[string]any{"name": replica, "replicas": int64(spec.Pods), "minAvailable": int64(spec.minCount()), "template": template}},
	})}
	return nil
}

// Failed implements Kind.
func (VolcanoJob) Failed(job *unstructured.Unstructured) (string, bool) {
	phase, _, err := unstructured.NestedString(job.Object, "status", "state", "phase")
	if err != nil {
		return "", false
	}
	message, _, _ := unstructured.NestedString(job.Object, "status", "state", "message")
	switch phase {
	case "Failed", "Aborted", "Terminated":
		return phase + ": " + message, true
	}
	return "", false
}
