package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Native is the gang scheduling of Kubernetes (since 1.36): pods name a PodGroup in their spec.
type Native struct {
	// Version is the served version of its API: v1beta1 or v1alpha2; empty is v1alpha2.
	Version string
}

// nativeConditions are the names of the condition of a placed PodGroup, in 1.37 and in 1.36.
var nativeConditions = []string{"PodGroupInitiallyScheduled", "PodGroupScheduled"}

// Name implements Scheduler.
func (Native) Name() string { return "native" }

// GroupResource implements Scheduler.
func (n Native) GroupResource() schema.GroupVersionResource {
	return kube.PodGroupsOf(n.Version)
}

// Decorate implements Scheduler.
func (n Native) Decorate(g Group, job *batchv1.Job) []*unstructured.Unstructured {
	job.Spec.Template.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(g.Spec.Name)}
	return []*unstructured.Unstructured{g.object(n.GroupResource().GroupVersion().String(), "PodGroup", g.Spec.Name, map[string]any{
		"schedulingPolicy": map[string]any{"gang": map[string]any{"minCount": int64(g.MinCount)}},
	})}
}

// Refused implements Scheduler. A condition with another reason is a scheduler error, not a
// decision.
func (Native) Refused(group *unstructured.Unstructured) (string, bool) {
	for _, kind := range nativeConditions {
		if reason, _ := conditionField(group, "conditions", kind, "False", "reason"); reason == "Unschedulable" {
			return condition(group, "conditions", kind, "False")
		}
	}
	return "", false
}
