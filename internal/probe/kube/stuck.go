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
