package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A run next to a metrics API that did not answer waited five minutes for the end of its
// own empty namespace.
func TestWaitsForAPI(t *testing.T) {
	yes := func(types ...corev1.NamespaceConditionType) (out []corev1.NamespaceCondition) {
		for _, c := range types {
			out = append(out, corev1.NamespaceCondition{Type: c, Status: corev1.ConditionTrue})
		}
		return out
	}
	no := corev1.NamespaceCondition{Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionFalse}
	for name, c := range map[string]struct {
		conditions []corev1.NamespaceCondition
		want       bool
	}{
		"nothing said":         {nil, false},
		"an API is silent":     {append(yes(corev1.NamespaceDeletionDiscoveryFailure), no), true},
		"and pods are left":    {yes(corev1.NamespaceDeletionDiscoveryFailure, corev1.NamespaceContentRemaining), false},
		"and a finalizer":      {yes(corev1.NamespaceFinalizersRemaining, corev1.NamespaceDeletionDiscoveryFailure), false},
		"content, no API":      {yes(corev1.NamespaceContentRemaining), false},
		"it could not delete":  {yes(corev1.NamespaceDeletionContentFailure, corev1.NamespaceDeletionDiscoveryFailure), false},
		"it was silent before": {[]corev1.NamespaceCondition{{Type: corev1.NamespaceDeletionDiscoveryFailure, Status: corev1.ConditionFalse}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WaitsForAPI(corev1.NamespaceStatus{Conditions: c.conditions}); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
