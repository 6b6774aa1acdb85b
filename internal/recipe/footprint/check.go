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

// The checks are those of the API server, as far as the scheduler sees what they
// are about: what it would refuse is told here, with its place.

// short leaves the examples of a message of Kubernetes out.
func short(message string) string {
	message, _, _ = strings.Cut(message, " (e.g.")
	return message
}

// labels checks what a node or a pod can carry.
func (r *reader) labels(labels map[string]string, at place) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...)
		if len(wrong) > 0 {
			r.add(rule.PodField, at.at(key), "label %s=%s: %s", key, labels[key], short(wrong[0]))
		}
	}
	return labels
}

// nodeSelector checks labels of nodes.
func (r *reader) nodeSelector(labels map[string]string, at place) map[string]string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		r.use(OfLabel, key, at.at(key))
	}
	return r.labels(labels, at)
}

func (r *reader) toleration(t *corev1.Toleration, at place) bool {
	before := len(r.problems)
	r.use(OfTaint, t.Key, at.at("key"))
	if t.Key != "" {
		if wrong := validation.IsQualifiedName(t.Key); len(wrong) > 0 {
			r.add(rule.PodField, at.at("key"), "%q is no key of a taint: %s", t.Key, short(wrong[0]))
		}
	} else if t.Operator != corev1.TolerationOpExists {
		r.add(rule.PodField, at, "a toleration without a key needs operator: Exists")
	}
	switch t.Operator {
	case "", corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt:
	case corev1.TolerationOpExists:
		if t.Value != "" {
			r.add(rule.PodField, at.at("value"), "operator: Exists takes no value")
		}
	default:
		r.add(rule.PodField, at.at("operator"), "%q is no operator: write Exists or Equal", t.Operator)
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		r.add(rule.PodField, at.at("effect"), "%q is no effect: write NoSchedule, PreferNoSchedule or NoExecute", t.Effect)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		r.add(rule.PodField, at.at("tolerationSeconds"), "tolerationSeconds is only for effect: NoExecute")
	}
	return len(r.problems) == before
}

func (r *reader) checkSpread(c *corev1.TopologySpreadConstraint, at place) {
	if c.MaxSkew < 1 {
		r.add(rule.PodField, at.at("maxSkew"), "maxSkew is %d, and has to be at least 1", c.MaxSkew)
	}
	r.topologyKey(c.TopologyKey, at)
	if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
		r.add(rule.PodField, at.at("whenUnsatisfiable"), "%q is neither DoNotSchedule nor ScheduleAnyway", c.WhenUnsatisfiable)
	}
	r.selector(c.LabelSelector, at.at("labelSelector"))
}

func (r *reader) topologyKey(key string, at place) {
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		r.add(rule.PodField, at.at("topologyKey"), "%q is no key of a label", key)
	}
}

func (r *reader) selector(s *metav1.LabelSelector, at place) {
	if s == nil {
		return
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		r.add(rule.PodField, at, "%s", err)
	}
}
