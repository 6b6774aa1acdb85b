package chart

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// facts are what of a pod template the scheduler sees, as a footprint has them.
func facts(t *corev1.PodTemplateSpec) (model.FootprintPod, error) {
	p := footprint.PodOf(t)
	return written(&p)
}

// written is a pod in the form of the file.
func written(p *footprint.Pod) (model.FootprintPod, error) {
	out := model.FootprintPod{
		Labels: p.Labels, NodeSelector: p.NodeSelector, Requests: texts(p.Requests),
		PriorityClassName: p.PriorityClassName, SchedulerName: p.SchedulerName, HostNetwork: p.HostNetwork,
	}
	for _, port := range p.HostPorts {
		out.HostPorts = append(out.HostPorts, int(port))
	}
	if p.Affinity != nil {
		if err := plainOf(p.Affinity, &out.Affinity); err != nil {
			return out, err
		}
	}
	if err := plainOf(p.Tolerations, &out.Tolerations); err != nil {
		return out, err
	}
	return out, plainOf(p.TopologySpreadConstraints, &out.TopologySpreadConstraints)
}

// plainOf makes plain values of a part of the Kubernetes API.
func plainOf(from, into any) error {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read a part of a pod: %w", err)
	}
	return nil
}

func texts(list corev1.ResourceList) map[string]yamlstrict.Text {
	if len(list) == 0 {
		return nil
	}
	out := make(map[string]yamlstrict.Text, len(list))
	for name, q := range list {
		out[string(name)] = yamlstrict.Text{Text: q.String(), Given: true}
	}
	return out
}
