package footprint

import (
	"slices"
	"strings"
)

// podKind describes a kind of Kubernetes whose objects create pods.
type podKind struct {
	groups []string
	// as is the workload kind that is scheduled in the same way.
	as string
	// template is the path of the pod template: the object itself for a Pod.
	template []string
	// spec is the path of the mapping with replicas, or parallelism and completions.
	spec []string
}

var (
	apps     = []string{"apps", "extensions"}
	podKinds = map[string]podKind{
		"Deployment":            {apps, "Deployment", []string{"spec", "template"}, []string{"spec"}},
		"ReplicaSet":            {apps, "Deployment", []string{"spec", "template"}, []string{"spec"}},
		"ReplicationController": {[]string{""}, "Deployment", []string{"spec", "template"}, []string{"spec"}},
		"StatefulSet":           {apps, "StatefulSet", []string{"spec", "template"}, []string{"spec"}},
		daemonSet:               {apps, daemonSet, []string{"spec", "template"}, []string{"spec"}},
		jobKind:                 {[]string{"batch"}, jobKind, []string{"spec", "template"}, []string{"spec"}},
		"CronJob":               {[]string{"batch"}, jobKind, []string{"spec", "jobTemplate", "spec", "template"}, []string{"spec", "jobTemplate", "spec"}},
		"Pod":                   {[]string{""}, jobKind, nil, nil},
	}
)

const jobKind = "Job"

// CreatesPods reports whether objects of a kind of Kubernetes create pods. Other API groups
// have a kind Job too.
func CreatesPods(group, kind string) bool {
	k, ok := podKinds[kind]
	return ok && slices.Contains(k.groups, group)
}

// podKindOf returns the kind of an object that creates pods.
func podKindOf(apiVersion, kind string) (podKind, bool) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	return podKinds[kind], version == "v1" && CreatesPods(group, kind)
}

// templateKinds only hold a pod template: another object that refers to them creates the pods.
var templateKinds = []string{"PodTemplate", "ClusterTrainingRuntime", "TrainingRuntime"}

// hasPodSpec reports whether a value has containers in it: a list of a pod, or those that an
// operator makes pods of (container and script of an Argo template, steps of a Tekton task).
func hasPodSpec(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			if isContainers(key, item) || hasPodSpec(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasPodSpec)
	}
	return false
}

func isContainers(key string, item any) bool {
	hasImage := func(v any) bool { one, ok := v.(map[string]any); return ok && one["image"] != nil }
	list, _ := item.([]any)
	switch key {
	case "containers":
		return len(list) > 0
	case "container", "script":
		return hasImage(item)
	case "steps":
		return slices.ContainsFunc(list, hasImage)
	}
	return false
}
