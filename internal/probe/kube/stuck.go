package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// whyStuck says what the namespace controller says about a namespace that does
// not go away.
func whyStuck(s corev1.NamespaceStatus) string {
	var out []string
	for _, c := range s.Conditions {
		if c.Status == corev1.ConditionTrue {
			out = append(out, string(c.Type)+": "+c.Message)
		}
	}
	if len(out) == 0 {
		return "phase " + string(s.Phase)
	}
	return strings.Join(out, "; ")
}

// WaitsForAPI tells of a namespace that is being deleted that nothing is known to be left
// in it, and that some API does not answer: Kubernetes ends no namespace before it has
// asked all of them what is in it.
func WaitsForAPI(s corev1.NamespaceStatus) bool {
	unanswered := false
	for _, c := range s.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case corev1.NamespaceDeletionDiscoveryFailure:
			unanswered = true
		case corev1.NamespaceContentRemaining, corev1.NamespaceFinalizersRemaining, corev1.NamespaceDeletionContentFailure:
			return false
		case corev1.NamespaceDeletionGVParsingFailure:
		}
	}
	return unanswered
}
