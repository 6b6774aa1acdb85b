package kube

import "k8s.io/apimachinery/pkg/runtime/schema"

// kind is a kind of object that runs create.
type kind struct {
	name     string
	resource schema.GroupVersionResource
	// global objects are in no namespace.
	global bool
}

func kindOf(name, group, version, plural string) kind {
	return kind{name: name, resource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural}}
}

func globalKind(name string, r schema.GroupVersionResource) kind {
	return kind{name: name, resource: r, global: true}
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
	return []kind{globalKind("NodePool", NodePools()), globalKind("NodeClaim", NodeClaims())}
}

func pods() kind { return kindOf("Pod", "", "v1", "pods") }
func nodes() kind {
	return globalKind("Node", schema.GroupVersionResource{Version: "v1", Resource: "nodes"})
}
func queues() kind { return globalKind("Queue", Queues()) }

func namespaces() kind {
	return globalKind("Namespace", schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
}

// beside is what else a run creates in a namespace that is not deleted with it.
func beside() []kind {
	return []kind{
		kindOf("Service", "", "v1", "services"),
		kindOf("ResourceClaimTemplate", "resource.k8s.io", "v1", "resourceclaimtemplates"),
		kindOf("LocalQueue", "kueue.x-k8s.io", "v1beta2", "localqueues"),
		kindOf("LocalQueue", "kueue.x-k8s.io", "v1beta1", "localqueues"),
		kindOf("PodGroup", "scheduling.volcano.sh", "v1beta1", "podgroups"),
	}
}

// groups are the gangs' objects.
func groups() []kind {
	return []kind{
		{name: "PodGroup", resource: PodGroups()},
		kindOf("PodGroup", "scheduling.run.ai", "v2alpha2", "podgroups"),
	}
}

// labelled are all kinds of which objects of a run may be left in the cluster.
func (c *Cluster) labelled() []kind {
	all := append(workloads(), pods())
	all = append(all, groups()...)
	all = append(all, capacity()...)
	all = append(all, nodes(), queues(),
		globalKind("PriorityClass", schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}))
	if c.Namespace == "" {
		return append(all, namespaces())
	}
	return append(all, beside()...)
}
