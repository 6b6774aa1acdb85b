package footprint

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func (r *reader) checkAffinity(a *corev1.Affinity, at position) {
	if n := a.NodeAffinity; n != nil {
		r.nodeAffinity(n, at.at("nodeAffinity"))
	}
	if p := a.PodAffinity; p != nil {
		r.podAffinity(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.at("podAffinity"))
	}
	if p := a.PodAntiAffinity; p != nil {
		r.podAffinity(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution, at.at("podAntiAffinity"))
	}
}

func (r *reader) nodeAffinity(n *corev1.NodeAffinity, at position) {
	if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		below := at.at(required, "nodeSelectorTerms")
		if len(s.NodeSelectorTerms) == 0 {
			r.add(rule.PodField, below, "nodeSelectorTerms is empty: no node would match")
		}
		for i := range s.NodeSelectorTerms {
			r.nodeTerm(&s.NodeSelectorTerms[i], below.at(strconv.Itoa(i)))
		}
	}
	for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
		p, below := &n.PreferredDuringSchedulingIgnoredDuringExecution[i], at.at(preferred, strconv.Itoa(i))
		r.weight(p.Weight, below)
		r.nodeTerm(&p.Preference, below.at("preference"))
	}
}

func (r *reader) weight(w int32, at position) {
	if w < 1 || w > 100 {
		r.add(rule.PodField, at.at("weight"), "invalid weight %d: must be from 1 to 100", w)
	}
}

func (r *reader) nodeTerm(t *corev1.NodeSelectorTerm, at position) {
	for i := range t.MatchExpressions {
		r.requirement(&t.MatchExpressions[i], at.at("matchExpressions", strconv.Itoa(i)))
	}
}

// operators maps operators of node selectors to those of label selectors.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func (r *reader) requirement(q *corev1.NodeSelectorRequirement, at position) {
	r.use(LabelUse, q.Key, at.at("key"))
	op, ok := operators[q.Operator]
	if !ok {
		r.add(rule.PodField, at.at("operator"), "invalid operator %q: must be In, NotIn, Exists, DoesNotExist, Gt or Lt", q.Operator)
		return
	}
	if _, err := labels.NewRequirement(q.Key, op, q.Values); err != nil {
		r.add(rule.PodField, at, "%s", err)
	}
}

func (r *reader) podAffinity(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm, at position) {
	for i := range must {
		r.podTerm(&must[i], at.at(required, strconv.Itoa(i)))
	}
	for i := range may {
		below := at.at(preferred, strconv.Itoa(i))
		r.weight(may[i].Weight, below)
		r.podTerm(&may[i].PodAffinityTerm, below.at("podAffinityTerm"))
	}
}

func (r *reader) podTerm(t *corev1.PodAffinityTerm, at position) {
	r.topologyKey(t.TopologyKey, at)
	r.selector(t.LabelSelector, at.at("labelSelector"))
	r.selector(t.NamespaceSelector, at.at("namespaceSelector"))
}
