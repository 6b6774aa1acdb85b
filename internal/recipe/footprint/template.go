package footprint

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

const maxReplicas = 10_000

// fromManifests adds the workloads of a component's manifests, which do not depend on values.
func (b *builder) fromManifests(out *Component, c *model.ComponentRef, f *Footprint, own []object) {
	for _, o := range own {
		before := len(b.problems)
		w := Workload{Kind: o.pods.as, Object: o.kind, Name: o.name, Namespace: o.namespace}
		if w.Kind != daemonSet {
			w.Replicas = b.podsOf(&o)
		}
		template, ok := b.podTemplate(&o)
		if !ok {
			continue
		}
		at := o.at.at(o.pods.template...)
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

// podsOf returns how many pods of an object run at a time.
func (r *reader) podsOf(o *object) int32 {
	stated := func(key string, otherwise int32) int32 {
		path := join(o.pods.spec, key)
		if v := lookup(o.all, path); v != nil {
			return r.replicas(v, o.at.at(path...))
		}
		return otherwise
	}
	switch {
	case o.pods.spec == nil:
		return 1
	case o.pods.as == jobKind:
		parallel := stated("parallelism", 1)
		return min(parallel, stated("completions", parallel))
	default:
		return stated(fieldReplicas, 1)
	}
}

func (r *reader) podTemplate(o *object) (corev1.PodTemplateSpec, bool) {
	if len(o.pods.template) == 0 {
		var pod corev1.Pod
		ok := r.decode(o.all, &pod, o.at)
		return corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, ok
	}
	var template corev1.PodTemplateSpec
	ok := r.decode(lookup(o.all, o.pods.template), &template, o.at.at(o.pods.template...))
	return template, ok
}

func (r *reader) checkPod(p *Pod, at position) {
	r.nodeSelector(p.NodeSelector, at.at("nodeSelector"))
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
			r.add(rule.PodField, at.at("containers"), "invalid resource %q", name)
		}
	}
}
