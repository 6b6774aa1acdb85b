package judge

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// A pod that only prefers nodes is bound by its node selector alone.
func TestPreferredAffinityIsNotARequirement(t *testing.T) {
	t.Parallel()
	selector := map[string]string{"zone": "a"}
	for name, affinity := range map[string]*corev1.Affinity{
		"no affinity": nil, "affinity to pods": {PodAffinity: &corev1.PodAffinity{}}, "preferred nodes": {NodeAffinity: &corev1.NodeAffinity{}},
	} {
		for zone, want := range map[string]int{"a": 0, "b": 1} {
			p := footprint.Pod{NodeSelector: selector, Affinity: affinity}
			if got := mismatch(p, "gpu-0", map[string]string{"zone": zone}); len(got) != want {
				t.Errorf("%s, zone %s: %+v", name, zone, got)
			}
		}
	}
}
