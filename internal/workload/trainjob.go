package workload

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// TrainJob runs a gang as a TrainJob of Kubeflow Trainer with a runtime of its own, from which
// Trainer creates a JobSet of the same name.
type TrainJob struct{}

// Trainer requires this name of the container of its nodes, and this label of their Job.
const (
	trainerContainer = replica
	trainerStep      = "trainer.kubeflow.org/trainjob-ancestor-step"
)

// Name implements Kind.
func (TrainJob) Name() string { return "trainjob" }

// Resource implements Kind.
func (TrainJob) Resource() schema.GroupVersionResource { return kube.TrainJobs() }

// Chain implements Kind.
func (TrainJob) Chain() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{kube.TrainJobs(), kube.JobSets()}
}

// Hosts implements Kind.
func (TrainJob) Hosts(name string, pods int) []string { return JobSet{}.Hosts(name, pods) }

// Convert implements Kind.
func (k TrainJob) Convert(m *Manifests, spec Spec) error {
	for i := range m.Job.Spec.Template.Spec.Containers {
		if c := &m.Job.Spec.Template.Spec.Containers[i]; c.Name == spec.Container {
			c.Name = trainerContainer
		}
	}
	job, err := jobFields(m.Job, annotate(maps.Clone(m.Job.Labels), trainerStep, "trainer"))
	if err != nil {
		return err
	}
	version := k.Resource().GroupVersion().String()
	runtime := object(m.Job, version, "TrainingRuntime", map[string]any{
		"mlPolicy": map[string]any{"numNodes": int64(spec.Pods)},
		"template": map[string]any{"spec": jobSetSpec(job)},
	})
	runtime.SetAnnotations(nil)
	train := map[string]any{"runtimeRef": map[string]any{"apiGroup": k.Resource().Group, "kind": "TrainingRuntime", "name": spec.Name}}
	if suspended(m.Job) {
		train["suspend"] = true
	}
	m.Service = nil
	m.Jobs = []*unstructured.Unstructured{runtime, object(m.Job, version, "TrainJob", train)}
	return nil
}

// Failed implements Kind.
func (TrainJob) Failed(job *unstructured.Unstructured) (string, bool) { return failedCondition(job) }
