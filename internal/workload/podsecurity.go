package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// Privileged describes how pods violate the baseline Pod Security Standard; empty if they do not.
// The API server's admission plugin evaluates pods with the same library.
func Privileged(template *corev1.PodTemplateSpec) (string, error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return "", fmt.Errorf("evaluate the Pod Security Standard: %w", err)
	}
	baseline := api.LevelVersion{Level: api.LevelBaseline, Version: api.LatestVersion()}
	var why []string
	for _, result := range evaluator.EvaluatePod(baseline, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			why = append(why, fmt.Sprintf("%s (%s)", result.ForbiddenReason, result.ForbiddenDetail))
		}
	}
	return strings.Join(why, ", "), nil
}
