package track

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// A node's Untainted is the time of the first reading without a taint that evicts; later readings leave it, a later
// removal moves it.
func TestUntainted(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	unregistered := corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}
	gpu := corev1.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}
	var row snapshot.Node
	for i, step := range []struct {
		taints []corev1.Taint
		want   int // seconds; 0: never
	}{
		{[]corev1.Taint{gpu}, 0},
		{[]corev1.Taint{gpu, unregistered}, 0},
		{[]corev1.Taint{gpu}, 3},
		{nil, 3},
		{[]corev1.Taint{unregistered}, 3},
		{nil, 6},
	} {
		n := &corev1.Node{Spec: corev1.NodeSpec{Taints: step.taints}}
		readNode(&row, n, begin.Add(time.Duration(i+1)*time.Second))
		var want time.Time
		if step.want > 0 {
			want = begin.Add(time.Duration(step.want) * time.Second)
		}
		if !row.Untainted.Equal(want) {
			t.Errorf("reading %d: %s, want %s", i+1, row.Untainted, want)
		}
	}
}
