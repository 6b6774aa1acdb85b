package runner

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/recipe/footprint"
)

// Namespaces are made where a pod chooses others by their labels, and only there.
func TestSelectedNamespaces(t *testing.T) {
	t.Parallel()
	by := corev1.PodAffinityTerm{NamespaceSelector: &metav1.LabelSelector{}}
	weighted := []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: by}}
	for name, tt := range map[string]struct {
		affinity *corev1.Affinity
		want     bool
	}{
		"no affinity":            {nil, false},
		"about nodes":            {&corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}, false},
		"of its own namespace":   {&corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}, false},
		"required":               {&corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{by}}}, true},
		"preferred":              {&corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}, true},
		"required not to be":     {&corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{by}}}, true},
		"preferred not to be so": {&corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespaces := namespaces{id: "c0001"}
			namespaces.add("a")
			namespaces.add("b")
			l := &layout{
				namespaces: namespaces, probe: &workload{},
				components: []*workload{{}, {spec: footprint.Workload{Pod: footprint.Pod{Affinity: tt.affinity}}}},
			}
			var want []string
			if tt.want {
				want = []string{"c0001-a", "c0001-b"}
			}
			if got := l.selected(); !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}
