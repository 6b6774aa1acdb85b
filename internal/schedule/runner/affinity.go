package runner

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// within adds to an affinity that pods are bound to these nodes only: one term a
// node, each with what one of the terms that are there asks for. A metadata.name
// takes one value, and the scheduler looks at no other nodes only where every term
// has one.
func (w *work) within(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		a = &corev1.Affinity{}
	}
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	terms := []corev1.NodeSelectorTerm{{}}
	if s := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		terms = chosen(s.NodeSelectorTerms)
	}
	crossed := &corev1.NodeSelector{}
	for _, node := range w.nodes {
		for _, t := range terms {
			t.MatchFields = append(slices.Clone(t.MatchFields), corev1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			})
			if w.turn != "" {
				t.MatchExpressions = append(slices.Clone(t.MatchExpressions), corev1.NodeSelectorRequirement{
					Key: labelTurn, Operator: corev1.NodeSelectorOpIn, Values: []string{w.turn},
				})
			}
			crossed.NodeSelectorTerms = append(crossed.NodeSelectorTerms, t)
		}
	}
	a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = crossed
	return a
}

// chosen leaves out terms that ask for nothing: they choose no node, and would choose
// one when crossed.
func chosen(terms []corev1.NodeSelectorTerm) []corev1.NodeSelectorTerm {
	var out []corev1.NodeSelectorTerm
	for _, t := range terms {
		if len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: LabelCell, Operator: corev1.NodeSelectorOpDoesNotExist}, // none of the cell's
		}}}
	}
	return out
}

// among makes terms about pods of other namespaces speak of the cell's.
func (l *layout) among(a *corev1.Affinity) {
	for _, t := range podTerms(a) {
		l.amongTerm(t)
	}
}

// selectsNamespaces says whether a term about pods chooses namespaces by labels.
func selectsNamespaces(a *corev1.Affinity) bool {
	return slices.ContainsFunc(podTerms(a), func(t *corev1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })
}

// podTerms are all terms of an affinity that are about other pods.
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

func (l *layout) amongTerm(t *corev1.PodAffinityTerm) {
	for i, n := range t.Namespaces {
		t.Namespaces[i] = l.spaces.of(n)
	}
	s := t.NamespaceSelector
	if s == nil {
		return
	}
	if s.MatchLabels == nil {
		s.MatchLabels = map[string]string{}
	}
	if n, ok := s.MatchLabels[corev1.LabelMetadataName]; ok {
		s.MatchLabels[corev1.LabelMetadataName] = l.spaces.of(n)
	}
	for i := range s.MatchExpressions {
		if s.MatchExpressions[i].Key == corev1.LabelMetadataName {
			for k, n := range s.MatchExpressions[i].Values {
				s.MatchExpressions[i].Values[k] = l.spaces.of(n)
			}
		}
	}
	s.MatchLabels[LabelCell] = l.id
}
