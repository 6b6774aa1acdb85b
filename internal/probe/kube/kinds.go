package kube

import "k8s.io/apimachinery/pkg/runtime/schema"

// kind is a kind of object that runs create; global objects are not namespaced.
type kind struct {
	name     string
	resource schema.GroupVersionResource
	global   bool
}

func kindOf(name, group, version, plural string) kind {
	return kind{name: name, resource: schema.GroupVersionResource{Group: group, Version: version, Resource: plural}}
}

func globalKind(name string, r schema.GroupVersionResource) kind {
	return kind{name: name, resource: r, global: true}
}

// NodePools is the resource of Karpenter node pools.
func NodePools() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
}

// NodeClaims is the resource of Karpenter node claims.
func NodeClaims() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
}

// Queues is the resource of KAI scheduler queues.
func Queues() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.run.ai", Version: "v2", Resource: "queues"}
}

// PrometheusRules is the resource of prometheus-operator's rules.
func PrometheusRules() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
}

// JobSets is the resource of JobSets.
func JobSets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
}

// TrainJobs is the resource of Kubeflow Trainer's jobs.
func TrainJobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"}
}

// MPIJobs is the resource of the MPI Operator's jobs.
func MPIJobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}
}

// VolcanoJobs is the resource of Volcano's jobs.
func VolcanoJobs() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "batch.volcano.sh", Version: "v1alpha1", Resource: "jobs"}
}

// RayClusters is the resource of KubeRay's clusters.
func RayClusters() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayclusters"}
}

// workloads are the kinds that create pods, in the order of deletion: autoscalers first, so
// that nothing scales up again.
func workloads() []kind {
	return []kind{
		kindOf("HorizontalPodAutoscaler", "autoscaling", "v2", "horizontalpodautoscalers"),
		kindOf("Deployment", "apps", "v1", "deployments"),
		{name: "TrainJob", resource: TrainJobs()},
		{name: "JobSet", resource: JobSets()},
		{name: "MPIJob", resource: MPIJobs()},
		{name: "Job", resource: VolcanoJobs()},
		kindOf("Job", "batch", "v1", "jobs"),
	}
}

// capacity are the kinds that create nodes; deleting them deletes their nodes.
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

// namespaced are the other kinds that a run creates in a namespace that it does not delete.
func namespaced() []kind {
	return []kind{
		kindOf("Service", "", "v1", "services"),
		kindOf("ResourceClaimTemplate", "resource.k8s.io", "v1", "resourceclaimtemplates"),
		kindOf("ResourceClaimTemplate", "resource.k8s.io", "v1beta2", "resourceclaimtemplates"),
		kindOf("ResourceClaimTemplate", "resource.k8s.io", "v1beta1", "resourceclaimtemplates"),
		kindOf("LocalQueue", "kueue.x-k8s.io", "v1beta2", "localqueues"),
		kindOf("LocalQueue", "kueue.x-k8s.io", "v1beta1", "localqueues"),
		kindOf("TrainingRuntime", "trainer.kubeflow.org", "v1alpha1", "trainingruntimes"),
		kindOf("PodMonitor", "monitoring.coreos.com", "v1", "podmonitors"),
		{name: "PrometheusRule", resource: PrometheusRules()},
		kindOf("PodGroup", "scheduling.volcano.sh", "v1beta1", "podgroups"),
	}
}

// sources are the kinds whose creation leads to an object of this kind.
func (k kind) sources() []kind {
	switch k.resource {
	case pods().resource:
		return append(workloads(), k)
	case nodes().resource, NodeClaims():
		return capacity()
	default:
		return []kind{k}
	}
}

// groups are the kinds of pod groups.
func groups() []kind {
	return []kind{
		{name: "PodGroup", resource: PodGroupsOf(podGroupBeta)},
		{name: "PodGroup", resource: PodGroupsOf(podGroupAlpha)},
		kindOf("PodGroup", "scheduling.run.ai", "v2alpha2", "podgroups"),
	}
}

// labelled are all kinds that a run can leave in the cluster.
func (c *Cluster) labelled() []kind {
	all := append(workloads(), pods())
	all = append(all, groups()...)
	all = append(all, capacity()...)
	all = append(all, nodes(), queues(),
		globalKind("PriorityClass", schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}))
	if c.Namespace == "" {
		return append(all, namespaces())
	}
	return append(all, namespaced()...)
}
