package footprint

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// The checks are those of the API server for the fields that the scheduler reads, reported with
// a position in the tree.

// trimExamples removes the examples from a message of Kubernetes.
func trimExamples(message string) string {
	message, _, _ = strings.Cut(message, " (e.g.")
	return message
}

func (r *reader) labels(labels map[string]string, at position) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...)
		if len(wrong) > 0 {
			r.add(rule.PodField, at.at(key), "label %s=%s: %s", key, labels[key], trimExamples(wrong[0]))
		}
	}
	return labels
}

func (r *reader) nodeSelector(labels map[string]string, at position) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		r.use(LabelUse, key, at.at(key))
	}
	return r.labels(labels, at)
}

func (r *reader) toleration(t *corev1.Toleration, at position) bool {
	before := len(r.problems)
	r.use(TaintUse, t.Key, at.at("key"))
	if t.Key != "" {
		if wrong := validation.IsQualifiedName(t.Key); len(wrong) > 0 {
			r.add(rule.PodField, at.at("key"), "invalid taint key %q: %s", t.Key, trimExamples(wrong[0]))
		}
	} else if t.Operator != corev1.TolerationOpExists {
		r.add(rule.PodField, at, "a toleration without a key requires operator: Exists")
	}
	switch t.Operator {
	case "", corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt:
	case corev1.TolerationOpExists:
		if t.Value != "" {
			r.add(rule.PodField, at.at("value"), "value must be empty with operator: Exists")
		}
	default:
		r.add(rule.PodField, at.at("operator"), "invalid operator %q: must be Exists or Equal", t.Operator)
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		r.add(rule.PodField, at.at("effect"), "invalid effect %q: must be NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		r.add(rule.PodField, at.at("tolerationSeconds"), "tolerationSeconds requires effect: NoExecute")
	}
	return len(r.problems) == before
}

func (r *reader) checkSpread(c *corev1.TopologySpreadConstraint, at position) {
	if c.MaxSkew < 1 {
		r.add(rule.PodField, at.at("maxSkew"), "invalid maxSkew %d: must be at least 1", c.MaxSkew)
	}
	r.topologyKey(c.TopologyKey, at)
	if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
		r.add(rule.PodField, at.at("whenUnsatisfiable"), "invalid whenUnsatisfiable %q: must be DoNotSchedule or ScheduleAnyway", c.WhenUnsatisfiable)
	}
	r.selector(c.LabelSelector, at.at("labelSelector"))
}

func (r *reader) topologyKey(key string, at position) {
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		r.add(rule.PodField, at.at("topologyKey"), "invalid topologyKey %q: must be a label key", key)
	}
}

func (r *reader) selector(s *metav1.LabelSelector, at position) {
	if s == nil {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		r.add(rule.PodField, at, "%s", err)
	}
}
