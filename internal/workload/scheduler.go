package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scheduler is a gang scheduler: how a Job says that its pods belong together.
type Scheduler interface {
	// Name is the word of the site file: native, kai, volcano, kueue.
	Name() string
	// Decorate changes job so that the scheduler takes its pods as one group, and
	// returns the group objects to create before it.
	Decorate(group Group, job *batchv1.Job) []*unstructured.Unstructured
	// GroupResource is where the state of groups is read from.
	GroupResource() schema.GroupVersionResource
	// Refused tells whether the scheduler says, on the group object, that it
	// looked at the group and could not place it, and what it says.
	Refused(group *unstructured.Unstructured) (why string, refused bool)
}

// Group is what a Scheduler needs to know of a gang.
type Group struct {
	Namespace string
	Labels    map[string]string
	MinCount  int
	Priority  string
	Spec      Spec
}

// object makes a group object of the gang's name.
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

// condition finds the message of a condition by type and status in a list of
// an object's status.
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
