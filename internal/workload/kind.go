package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind of job other than Kubernetes' own: its controller creates the pods.
type Kind interface {
	// Name is its name in the site file: jobset, trainjob, mpijob, vcjob.
	Name() string
	// Resource is the resource of its objects.
	Resource() schema.GroupVersionResource
	// Chain are the resources of the job and of what its controller makes of it under the same
	// name; the last one owns what creates the pods.
	Chain() []schema.GroupVersionResource
	// Hosts are the DNS names of the pods of a job in the order of their index.
	Hosts(name string, pods int) []string
	// Convert changes m, the objects of a Kubernetes Job, into those of its own kind: it sets
	// m.Jobs, of which the last one is the job, and removes what its controller creates.
	Convert(m *Manifests, spec Spec) error
	// Failed reports whether the job's status is failed, with the reason.
	Failed(job *unstructured.Unstructured) (reason string, failed bool)
}

// JobKind is the name of Kubernetes' own kind, for which Kind is nil.
const JobKind = "job"

// labelJob is on the pods of a Kind and has the name of the gang.
const labelJob = "firstlight.dev/job"

// replica is the name of the only group of pods in kinds with several.
const replica = "node"

// hostsVariable has the DNS names of the pods of a Kind, in the order of their index.
const hostsVariable = "HOSTS"

// podLabel selects the pods of a gang.
func podLabel(kind Kind) string {
	if kind == nil {
		return batchv1.JobNameLabel
	}
	return labelJob
}

// KindName is the name of a kind in the site file.
func KindName(kind Kind) string {
	if kind == nil {
		return JobKind
	}
	return kind.Name()
}

// prepare gives the pods of m what kinds other than Job do not: names of the other pods, and a
// label that the name of a gang selects.
func prepare(kind Kind, m *Manifests, spec Spec) {
	template := &m.Job.Spec.Template
	template.Labels = annotate(maps.Clone(template.Labels), labelJob, spec.Name)
	c := &template.Spec.Containers[0]
	c.Env = append(slices.Clone(c.Env), corev1.EnvVar{Name: hostsVariable, Value: strings.Join(kind.Hosts(spec.Name, spec.Pods), " ")})
}

// fromLabel is a variable with the value of one of the pod's labels.
func fromLabel(name, label string) corev1.EnvVar {
	return fromField(name, "metadata.labels['"+label+"']")
}

// fromField is a variable with the value of a field of the pod.
func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// suspended reports whether a scheduler starts a job by resuming it.
func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// object is an object of a Kind with the name, labels and annotations of a Job.
func object(job *batchv1.Job, apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(job.Name)
	u.SetNamespace(job.Namespace)
	u.SetLabels(job.Labels)
	u.SetAnnotations(job.Annotations)
	return u
}

// fields is an API object as a map, without status and creation time.
func fields(v any) (map[string]any, error) {
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", v, err)
	}
	delete(out, "status")
	if meta, ok := out["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return out, nil
}

// jobFields is the Job as the template of a JobSet. The JobSet, not its Job, is suspended.
func jobFields(job *batchv1.Job, labels map[string]string) (map[string]any, error) {
	inner := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *job.Spec.DeepCopy()}
	inner.Spec.Suspend = nil
	inner.Spec.Template.Spec.Subdomain = "" // JobSet's
	out, err := fields(inner)
	if err != nil {
		return nil, err
	}
	template, _, err := unstructured.NestedMap(out, "spec", "template")
	if err != nil {
		return nil, fmt.Errorf("convert the Job's template: %w", err)
	}
	if meta, ok := template["metadata"].(map[string]any); ok {
		delete(meta, "creationTimestamp")
	}
	return out, unstructured.SetNestedMap(out, template, "spec", "template")
}

// hosts are the DNS names of pods whose names differ in their index only.
func hosts(name, prefix string, pods int) []string {
	out := make([]string, pods)
	for i := range pods {
		out[i] = prefix + strconv.Itoa(i) + "." + name
	}
	return out
}
