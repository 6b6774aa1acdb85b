package footprint

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresource "k8s.io/component-helpers/resource"
)

// PodOf extracts the fields of a pod template that the scheduler reads.
func PodOf(template *corev1.PodTemplateSpec) Pod {
	spec := template.Spec.DeepCopy()
	p := Pod{
		Labels: maps.Clone(template.Labels), NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		TopologySpreadConstraints: spec.TopologySpreadConstraints, Requests: requestsOf(spec), HostPorts: hostPortsOf(spec),
		PriorityClassName: spec.PriorityClassName, SchedulerName: spec.SchedulerName, HostNetwork: spec.HostNetwork,
	}
	if p.SchedulerName == corev1.DefaultSchedulerName {
		p.SchedulerName = ""
	}
	p.clip()
	return p
}

// requestsOf returns the requests of the whole pod as the scheduler computes them. It first
// applies the API server's defaults: a limit without a request is the request; for the pod's
// own limits, unless a container requests the resource. It modifies spec.
func requestsOf(spec *corev1.PodSpec) corev1.ResourceList {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			defaultRequests(&list[i].Resources, nil)
		}
	}
	pod := &corev1.Pod{Spec: *spec}
	if spec.Resources != nil {
		defaultRequests(spec.Resources, podresource.AggregateContainerRequests(pod, podresource.PodResourcesOptions{}))
	}
	out := podresource.PodRequests(pod, podresource.PodResourcesOptions{})
	maps.DeleteFunc(out, func(_ corev1.ResourceName, q resource.Quantity) bool { return q.IsZero() })
	return out
}

func defaultRequests(r *corev1.ResourceRequirements, elsewhere corev1.ResourceList) {
	for name, limit := range r.Limits {
		_, stated := r.Requests[name]
		if _, have := elsewhere[name]; stated || have {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit
	}
}

// hostPortsOf returns the host ports of containers and of sidecars (restartable init
// containers). With host networking, every container port is a host port.
func hostPortsOf(spec *corev1.PodSpec) []int32 {
	var out []int32
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			port := p.HostPort
			if port == 0 && spec.HostNetwork {
				port = p.ContainerPort // defaulted by the API server
			}
			if port > 0 && port <= maxPort {
				out = append(out, port)
			}
		}
	}
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range spec.Containers {
		add(&spec.Containers[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const maxPort = 65535
