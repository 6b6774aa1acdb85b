package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scheduler is a gang scheduler's API.
type Scheduler interface {
	// Name is its name in the site file: native, kai, volcano, kueue.
	Name() string
	// Decorate changes job so that its pods form one group, and returns the group objects to
	// create first.
	Decorate(group Group, job *batchv1.Job) []*unstructured.Unstructured
	// GroupResource is the resource that has the state of a group.
	GroupResource() schema.GroupVersionResource
	// Refused reports whether the group object states that the group is unschedulable, and
	// the scheduler's message.
	Refused(group *unstructured.Unstructured) (message string, refused bool)
}

// Group is the input of Scheduler.Decorate.
type Group struct {
	Namespace string
	Labels    map[string]string
	MinCount  int
	Priority  string
	Spec      Spec
}

// object is a group object of the gang.
func (g Group) object(apiVersion, kind, name string, spec map[string]any) *unstructured.Unstructured {
	labels := make(map[string]any, len(g.Labels))
	for k, v := range g.Labels {
		labels[k] = v
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion,
		"kind":       kind,
		"metadata":   map[string]any{"name": name, "namespace": g.Namespace, "labels": labels},
		"spec":       spec,
	}}
}

// condition returns the message of a condition by type and status, from a list in the
// object's status.
func condition(obj *unstructured.Unstructured, list, kind, status string) (message string, found bool) {
	return conditionField(obj, list, kind, status, "message")
}

func conditionField(obj *unstructured.Unstructured, list, kind, status, field string) (value string, found bool) {
	items, _, err := unstructured.NestedSlice(obj.Object, "status", list)
	if err != nil {
		return "", false
	}
	for _, item := range items {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != kind || c["status"] != status {
			continue
		}
		value, _ = c[field].(string)
		return value, true
	}
	return "", false
}

func annotate(meta map[string]string, pairs ...string) map[string]string {
	if meta == nil {
		meta = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		meta[pairs[i]] = pairs[i+1]
	}
	return meta
}
