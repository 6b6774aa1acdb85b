package chart

import (
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

type workload struct {
	kind, name, source string
	// replicas is unused for a DaemonSet.
	replicas int32
	template corev1.PodTemplateSpec
}

// maxNested limits lists of lists.
const maxNested = 8

// workloads returns the workloads of an object. A pod template of a kind that neither Kubernetes nor
// the footprint makes pods of is an error: its pods would be missing.
func (o *object) workloads(f *footprint.Footprint) ([]workload, error) {
	return workloadsOf(f, o.json, o.source, 0)
}

func workloadsOf(f *footprint.Footprint, data []byte, source string, depth int) ([]workload, error) {
	var head metav1.TypeMeta
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%s: invalid object: %w", source, err)
	}
	group, version, ok := strings.Cut(head.APIVersion, "/")
	if !ok {
		group, version = "", head.APIVersion
	}
	if list, ok := strings.CutSuffix(head.Kind, "List"); ok && (list == "" || footprint.CreatesPods(group, list)) {
		return listItems(f, data, source, depth)
	}
	if !footprint.CreatesPods(group, head.Kind) {
		return nil, unknownPods(f, group, head, data, source)
	}
	if version != "v1" {
		return nil, fmt.Errorf("%s: Kubernetes %s does not serve %s of %s", source, KubeVersion, head.Kind, head.APIVersion)
	}
	w, err := decode(head.Kind, data)
	if err != nil {
		return nil, fmt.Errorf("%s: invalid %s: %w", source, head.Kind, err)
	}
	w.source = source
	if w.name == "" {
		return nil, fmt.Errorf("%s: %s without a name", source, head.Kind)
	}
	if w.kind != daemonSet && w.replicas <= 0 {
		return nil, nil // schedules no pods
	}
	return []workload{w}, nil
}

func unknownPods(f *footprint.Footprint, group string, head metav1.TypeMeta, data []byte, source string) error {
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("%s: invalid object: %w", source, err)
	}
	if !f.UnknownPods(group, head.Kind, all) {
		return nil
	}
	return fmt.Errorf("%s: unknown pods of kind %s of %s: it has a pod template; add the pods that its operator creates to workloads, with createdBy: %[2]s; or, if it schedules no pods, withoutPods: [%[2]s]",
		source, head.Kind, head.APIVersion)
}

func listItems(f *footprint.Footprint, data []byte, source string, depth int) ([]workload, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: invalid list: %w", source, err)
	}
	if depth >= maxNested {
		return nil, fmt.Errorf("%s: lists nested more than %d deep", source, maxNested)
	}
	var out []workload
	for _, item := range list.Items {
		inner, err := workloadsOf(f, item, source, depth+1)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

const (
	deployment = "Deployment"
	daemonSet  = "DaemonSet"
	job        = "Job"
)

// decode parses one object. Kinds that footprints do not have are converted to one that is
// scheduled in the same way: a Pod and a CronJob become a Job.
func decode(kind string, data []byte) (workload, error) {
	switch kind {
	case daemonSet:
		var o appsv1.DaemonSet
		err := json.Unmarshal(data, &o)
		return workload{kind: kind, name: o.Name, template: o.Spec.Template}, err
	case "StatefulSet":
		var o appsv1.StatefulSet
		err := json.Unmarshal(data, &o)
		return workload{kind: kind, name: o.Name, template: o.Spec.Template, replicas: count(o.Spec.Replicas)}, err
	case job:
		var o batchv1.Job
		err := json.Unmarshal(data, &o)
		return workload{kind: job, name: o.Name, template: o.Spec.Template, replicas: parallel(&o.Spec)}, err
	case "CronJob":
		var o batchv1.CronJob
		err := json.Unmarshal(data, &o)
		w := workload{kind: job, name: o.Name, template: o.Spec.JobTemplate.Spec.Template, replicas: parallel(&o.Spec.JobTemplate.Spec)}
		if o.Spec.Suspend != nil && *o.Spec.Suspend {
			w.replicas = 0
		}
		return w, err
	case "Pod":
		var o corev1.Pod
		err := json.Unmarshal(data, &o)
		return workload{kind: job, name: o.Name, replicas: 1, template: corev1.PodTemplateSpec{ObjectMeta: o.ObjectMeta, Spec: o.Spec}}, err
	default: // Deployment, ReplicaSet and ReplicationController have the same fields here
		var o appsv1.ReplicaSet
		err := json.Unmarshal(data, &o)
		return workload{kind: deployment, name: o.Name, template: o.Spec.Template, replicas: count(o.Spec.Replicas)}, err
	}
}

func count(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// parallel returns the number of pods of a Job that run in parallel.
func parallel(s *batchv1.JobSpec) int32 {
	n := count(s.Parallelism)
	if s.Completions != nil {
		n = min(n, *s.Completions)
	}
	if s.Suspend != nil && *s.Suspend {
		return 0
	}
	return n
}
