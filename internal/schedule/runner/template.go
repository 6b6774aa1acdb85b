package runner

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// image of all pods; nothing runs it.
const image = "registry.k8s.io/pause:3.10"

// tolerateAll tolerates all taints.
var tolerateAll = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

// template is the pod template of the workload, restricted to its nodes.
func (l *layout) template(w *workload) corev1.PodTemplateSpec {
	p := w.spec.Pod
	affinity, selector := p.Affinity.DeepCopy(), maps.Clone(p.NodeSelector)
	l.rewriteNamespaces(affinity)
	if w.spec.Kind == daemonSet && w.own {
		// Its controller matches every DaemonSet with every node of all scenarios: a label is
		// cheaper than names.
		if selector == nil {
			selector = map[string]string{}
		}
		selector[labelOwn] = l.id
	} else {
		affinity = w.restrictToNodes(affinity)
	}
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, l.labels(w))
	spec := corev1.PodSpec{
		Affinity: affinity, NodeSelector: selector, Tolerations: slices.Clone(p.Tolerations),
		PriorityClassName: p.PriorityClassName, SchedulerName: p.SchedulerName, HostNetwork: p.HostNetwork,
		TerminationGracePeriodSeconds: new(int64(0)),
		Containers:                    []corev1.Container{{Name: "main", Image: image, Resources: resources(p.Requests), Ports: ports(p.HostPorts)}},
	}
	for i := range p.TopologySpreadConstraints {
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, *p.TopologySpreadConstraints[i].DeepCopy())
	}
	if w.gang {
		spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(w.spec.Name)}
	}
	if w.spec.Kind == job {
		spec.RestartPolicy = corev1.RestartPolicyNever
	}
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec}
}

// labels of a workload and its pods.
func (l *layout) labels(w *workload) map[string]string {
	return map[string]string{LabelScenario: l.id, labelWorkload: w.key}
}

// resources are the requests of the whole pod; the API requires limits for extended ones.
func resources(requests corev1.ResourceList) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: requests.DeepCopy()}
	for name, q := range requests {
		if !overcommitted(name) {
			if out.Limits == nil {
				out.Limits = corev1.ResourceList{}
			}
			out.Limits[name] = q
		}
	}
	return out
}

// overcommitted reports whether requests of a resource may be below limits.
func overcommitted(name corev1.ResourceName) bool {
	domain, _, qualified := strings.Cut(string(name), "/")
	if qualified {
		return strings.HasSuffix(domain, "kubernetes.io")
	}
	return !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func ports(host []int32) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, p := range host {
		out = append(out, corev1.ContainerPort{ContainerPort: p, HostPort: p})
	}
	return out
}
