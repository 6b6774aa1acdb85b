package runner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restrictToNodes restricts an affinity to the workload's nodes: one term per node and
// existing term. A term on metadata.name takes one value, and the scheduler skips other
// nodes only if every term has one.
func (w *workload) restrictToNodes(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	terms := []corev1.NodeSelectorTerm{{}}
	if s := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		terms = nonEmptyTerms(s.NodeSelectorTerms)
	}
	crossed := &corev1.NodeSelector{}
	for _, node := range w.nodes {
		for _, t := range terms {
			t.MatchFields = append(slices.Clone(t.MatchFields), corev1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			})
			if w.round != "" {
				t.MatchExpressions = append(slices.Clone(t.MatchExpressions), corev1.NodeSelectorRequirement{
					Key: labelRound, Operator: corev1.NodeSelectorOpIn, Values: []string{w.round},
				})
			}
			crossed.NodeSelectorTerms = append(crossed.NodeSelectorTerms, t)
		}
	}
	a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = crossed
	return a
}

// nonEmptyTerms drops empty terms: they match no node, but would match after the
// combination with node names.
func nonEmptyTerms(terms []corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	var out []corev1.NodeSelectorTerm
	for _, t := range terms {
		if len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: LabelScenario, Operator: corev1.NodeSelectorOpDoesNotExist}, // no node of the scenario
		}}}
	}
	return out
}

// rewriteNamespaces maps the namespaces in pod affinity terms to the scenario's.
func (l *layout) rewriteNamespaces(a *corev1.Affinity) {
	for _, t := range podTerms(a) {
		l.rewriteTerm(t)
	}
}

// selectsNamespaces reports whether a pod affinity term selects namespaces by label.
func selectsNamespaces(a *corev1.Affinity) bool {
	return slices.ContainsFunc(podTerms(a), func(t *corev1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })
}

// podTerms lists all pod affinity and anti-affinity terms.
func podTerms(a *corev1.Affinity) []*corev1.PodAffinityTerm {
	var out []*corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			out = append(out, &required[i])
		}
		for i := range preferred {
			out = append(out, &preferred[i].PodAffinityTerm)
		}
	}
	if a != nil && a.PodAffinity != nil {
		add(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		add(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}

func (l *layout) rewriteTerm(t *corev1.PodAffinityTerm) {
	for i, n := range t.Namespaces {
		t.Namespaces[i] = l.namespaces.get(n)
	}
	s := t.NamespaceSelector
	if s == nil {
		return
	}
	if s.MatchLabels == nil {
		s.MatchLabels = map[string]string{}
	}
	if n, ok := s.MatchLabels[corev1.LabelMetadataName]; ok {
		s.MatchLabels[corev1.LabelMetadataName] = l.namespaces.get(n)
	}
	for i := range s.MatchExpressions {
		if s.MatchExpressions[i].Key == corev1.LabelMetadataName {
			for k, n := range s.MatchExpressions[i].Values {
				s.MatchExpressions[i].Values[k] = l.namespaces.get(n)
			}
		}
	}
	s.MatchLabels[LabelScenario] = l.id
}
