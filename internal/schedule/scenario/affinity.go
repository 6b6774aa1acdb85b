package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// canonicalAffinity changes a, which is the caller's own; nil where it says nothing.
func canonicalAffinity(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		return nil
	}
	if n := a.NodeAffinity; n != nil {
		if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
			for i := range s.NodeSelectorTerms {
				canonicalTerm(&s.NodeSelectorTerms[i])
			}
			s.NodeSelectorTerms = set(s.NodeSelectorTerms)
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			canonicalTerm(&n.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference)
		}
		n.PreferredDuringSchedulingIgnoredDuringExecution = sorted(n.PreferredDuringSchedulingIgnoredDuringExecution)
		if n.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.NodeAffinity = nil
		}
	}
	if p := a.PodAffinity; p != nil {
		p.RequiredDuringSchedulingIgnoredDuringExecution = canonicalPodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		p.PreferredDuringSchedulingIgnoredDuringExecution = canonicalWeighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
		if len(p.RequiredDuringSchedulingIgnoredDuringExecution)+len(p.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAffinity = nil
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		p.RequiredDuringSchedulingIgnoredDuringExecution = canonicalPodTerms(p.RequiredDuringSchedulingIgnoredDuringExecution)
		p.PreferredDuringSchedulingIgnoredDuringExecution = canonicalWeighted(p.PreferredDuringSchedulingIgnoredDuringExecution)
		if len(p.RequiredDuringSchedulingIgnoredDuringExecution)+len(p.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAntiAffinity = nil
		}
	}
	if a.NodeAffinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return a
}

// canonicalTerm: its expressions must all hold, their values are sets.
func canonicalTerm(t *corev1.NodeSelectorTerm) {
	for _, list := range []*[]corev1.NodeSelectorRequirement{&t.MatchExpressions, &t.MatchFields} {
		for i := range *list {
			(*list)[i].Values = set((*list)[i].Values)
		}
		*list = set(*list)
	}
}

func canonicalPodTerms(list []corev1.PodAffinityTerm) []corev1.PodAffinityTerm {
	for i := range list {
		canonicalPodTerm(&list[i])
	}
	return set(list)
}

func canonicalWeighted(list []corev1.WeightedPodAffinityTerm) []corev1.WeightedPodAffinityTerm {
	for i := range list {
		canonicalPodTerm(&list[i].PodAffinityTerm)
	}
	return sorted(list) // two that are the same weigh twice
}

func canonicalPodTerm(t *corev1.PodAffinityTerm) {
	t.LabelSelector, t.NamespaceSelector = canonicalSelector(t.LabelSelector), canonicalSelector(t.NamespaceSelector)
	t.Namespaces, t.MatchLabelKeys, t.MismatchLabelKeys = set(t.Namespaces), set(t.MatchLabelKeys), set(t.MismatchLabelKeys)
}

// canonicalSelector keeps nil apart from empty: nil chooses nothing, empty everything.
func canonicalSelector(s *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	out := s.DeepCopy()
	for i := range out.MatchExpressions {
		out.MatchExpressions[i].Values = set(out.MatchExpressions[i].Values)
	}
	out.MatchExpressions = set(out.MatchExpressions)
	return out
}

func canonicalSpread(c corev1.TopologySpreadConstraint) corev1.TopologySpreadConstraint {
	c.LabelSelector = canonicalSelector(c.LabelSelector)
	c.MatchLabelKeys = set(slices.Clone(c.MatchLabelKeys))
	return c
}
