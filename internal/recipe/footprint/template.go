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
