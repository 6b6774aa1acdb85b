package footprint

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	podresource "k8s.io/component-helpers/resource"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/problem"
)

const maxReplicas = 10_000

// fromManifests adds what the manifests of a component have. They are as they are:
// no values fill them in.
func (b *builder) fromManifests(out *Component, c *model.ComponentRef, f *Footprint, own []object) {
	for _, o := range own {
		before := len(b.problems)
		w := Workload{Kind: o.kind, Name: o.name, Namespace: o.namespace}
		if o.kind != daemonSet {
			w.Replicas = 1
			key := map[string]string{"Job": "parallelism"}[o.kind]
			if key == "" {
				key = fieldReplicas
			}
			if stated := lookup(o.all, []string{"spec", key}); stated != nil {
				w.Replicas = b.replicas(stated, o.at.at("spec", key))
			}
		}
		var template corev1.PodTemplateSpec
		at := o.at.at("spec", "template")
		if !b.decode(lookup(o.all, []string{"spec", "template"}), &template, at) {
			continue
		}
		w.Pod = PodOf(&template)
		b.checkPod(&w.Pod, at.at("spec"))
		classified := b.classify(&w, f, o.at.at("metadata", "name"))
		if f == nil {
			w.Namespace = b.namespace(&w, c, nil)
		}
		if classified && len(b.problems) == before {
			out.Workloads = append(out.Workloads, w)
		}
	}
}

func (r *reader) checkPod(p *Pod, at place) {
	r.labels(p.NodeSelector, at.at("nodeSelector"))
	for i := range p.Tolerations {
		r.toleration(&p.Tolerations[i], at.at("tolerations"))
	}
	if p.Affinity != nil {
		r.checkAffinity(p.Affinity, at.at("affinity"))
	}
	for i := range p.TopologySpreadConstraints {
		r.checkSpread(&p.TopologySpreadConstraints[i], at.at("topologySpreadConstraints"))
	}
	for name := range p.Requests {
		if !knownResource(string(name)) {
			r.add(problem.PodField, at.at("containers"), "%q is no resource", name)
		}
	}
}

// PodOf is what of a pod template the scheduler sees. Requests are the pod's, as the
// scheduler counts them: containers together, or an init container that needs more.
func PodOf(template *corev1.PodTemplateSpec) Pod {
	spec := template.Spec.DeepCopy()
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			defaultRequests(&list[i].Resources)
		}
	}
	p := Pod{
		Labels: maps.Clone(template.Labels), NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations,
		TopologySpreadConstraints: spec.TopologySpreadConstraints,
		Requests:                  podresource.PodRequests(&corev1.Pod{Spec: *spec}, podresource.PodResourcesOptions{}),
		PriorityClassName:         spec.PriorityClassName, SchedulerName: spec.SchedulerName, HostNetwork: spec.HostNetwork,
	}
	for _, c := range spec.Containers {
		for _, port := range c.Ports {
			host := port.HostPort
			if host == 0 && spec.HostNetwork {
				host = port.ContainerPort // what the API server makes of it
			}
			if host > 0 && host <= math.MaxUint16 && !slices.Contains(p.HostPorts, host) {
				p.HostPorts = append(p.HostPorts, host)
			}
		}
	}
	slices.Sort(p.HostPorts)
	if p.SchedulerName == corev1.DefaultSchedulerName {
		p.SchedulerName = ""
	}
	p.clip()
	return p
}

func defaultRequests(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, stated := r.Requests[name]; !stated {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = limit
		}
	}
}
