package kube

import "k8s.io/apimachinery/pkg/runtime/schema"

// kind is a kind of object that runs create.
type kind struct {
	name     string
	resource schema.GroupVersionResource
}

func kindOf(name, group, version, plural string) kind {
	return kind{name: name, resource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural}}
}

// NodePools are Karpenter's.
func NodePools() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
}

// NodeClaims are Karpenter's.
func NodeClaims() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
}

// Queues are KAI's.
func Queues() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2", Resource: "queues"}
}

// workloads are what makes pods, in the order in which they have to go: what
// scales first, so that nothing grows again.
func workloads() []kind {
	return []kind{
		kindOf("HorizontalPodAutoscaler", "autoscaling", "v2", "horizontalpodautoscalers"),
		kindOf("Deployment", "apps", "v1", "deployments"),
		kindOf("Job", "batch", "v1", "jobs"),
	}
}

// capacity is what makes nodes; the nodes end with it.
func capacity() []kind {
	return []kind{{"NodePool", NodePools()}, {"NodeClaim", NodeClaims()}}
}

func pods() kind  { return kindOf("Pod", "", "v1", "pods") }
func nodes() kind { return kindOf("Node", "", "v1", "nodes") }

// groups are the gangs' objects.
func groups() []kind {
	return []kind{
		{"PodGroup", PodGroups()},
		kindOf("PodGroup", "scheduling.run.ai", "v2alpha2", "podgroups"),
	}
}

// labelled are all kinds that may carry a run's label.
func labelled() []kind {
	all := append(workloads(), pods())
	all = append(all, groups()...)
	all = append(all, capacity()...)
	return append(all, nodes(), kind{"Queue", Queues()},
		kindOf("Namespace", "", "v1", "namespaces"), kindOf("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses"))
}
