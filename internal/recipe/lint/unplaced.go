package lint

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	scheduling1 "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// unplaced reports system pods that can run on GPU nodes: their selectors match GPU nodes or
// are empty, and they tolerate the taints.
func (s *scheduling) unplaced(recipe string, r *resolve.Result, gpu *nodeprofile.Node, components []footprint.Component) {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: gpu.Name, Labels: everyLabel(gpu, components)}}
	for _, c := range components {
		for i := range c.Workloads {
			w := &c.Workloads[i]
			if w.Class != footprint.System {
				continue
			}
			pod := corev1.Pod{Spec: corev1.PodSpec{NodeSelector: w.Pod.NodeSelector, Affinity: w.Pod.Affinity}}
			chosen, err := nodeaffinity.GetRequiredNodeAffinity(&pod).Match(&node)
			if err != nil || !chosen {
				continue
			}
			if _, kept := scheduling1.FindMatchingUntoleratedTaint(klog.Logger{}, gpu.Taints, w.Pod.Tolerations, keepsOff, false); !kept {
				s.find(recipe, rule.Unplaced.At(s.footprints.PlacementPos(r, c.Name, w.Kind, w.Name),
					"%s: pods of %s %s can run on GPU nodes: they have no selector for system nodes and tolerate the taints", c.Name, w.Kind, w.Name))
			}
		}
	}
}

func keepsOff(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }

// everyLabel returns all labels that such a node can have.
func everyLabel(s *nodeprofile.Node, components []footprint.Component) map[string]string {
	labels := map[string]string{
		corev1.LabelArchStable: s.Arch, corev1.LabelOSStable: "linux", corev1.LabelHostname: s.Name,
		corev1.LabelInstanceTypeStable: s.InstanceType, corev1.LabelTopologyRegion: s.Region,
	}
	if len(s.Zones) > 0 {
		labels[corev1.LabelTopologyZone] = s.Zones[0]
	}
	maps.Copy(labels, s.Labels)
	for _, found := range s.Discovered {
		maps.Copy(labels, found)
	}
	for range components { // published labels can depend on published ones
		for _, c := range components {
			for _, p := range c.Publishes {
				if has(labels, p.OnNodesWith) {
					maps.Copy(labels, p.Labels)
				}
			}
		}
	}
	return labels
}

func has(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}
