package chart

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// facts returns the fields of a pod template that the scheduler reads.
func facts(t *corev1.PodTemplateSpec) (model.FootprintPod, error) {
	p := footprint.PodOf(t)
	return written(&p)
}

// written converts a pod to the file format.
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

// plainOf converts a part of the Kubernetes API to plain values.
func plainOf(from, into any) error {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("convert a part of a pod: %w", err)
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
