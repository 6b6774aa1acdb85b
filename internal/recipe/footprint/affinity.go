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

func (r *reader) checkAffinity(a *corev1.Affinity, at place) {
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

func (r *reader) nodeAffinity(n *corev1.NodeAffinity, at place) {
	if s := n.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		below := at.at(required, "nodeSelectorTerms")
		if len(s.NodeSelectorTerms) == 0 {
			r.add(rule.PodField, below, "there are no nodeSelectorTerms: no node would do")
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

func (r *reader) weight(w int32, at place) {
	if w < 1 || w > 100 {
		r.add(rule.PodField, at.at("weight"), "weight is %d, and has to be from 1 to 100", w)
	}
}

func (r *reader) nodeTerm(t *corev1.NodeSelectorTerm, at place) {
	for i := range t.MatchExpressions {
		r.requirement(&t.MatchExpressions[i], at.at("matchExpressions", strconv.Itoa(i)))
	}
}

// operators of node selectors, by those of labels.
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

func (r *reader) requirement(q *corev1.NodeSelectorRequirement, at place) {
	r.use(OfLabel, q.Key, at.at("key"))
	op, ok := operators[q.Operator]
	if !ok {
		r.add(rule.PodField, at.at("operator"), "%q is no operator: write In, NotIn, Exists, DoesNotExist, Gt or Lt", q.Operator)
		return
	}
	if _, err := labels.NewRequirement(q.Key, op, q.Values); err != nil {
		r.add(rule.PodField, at, "%s", err)
	}
}

func (r *reader) podAffinity(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm, at place) {
	for i := range must {
		r.podTerm(&must[i], at.at(required, strconv.Itoa(i)))
	}
	for i := range may {
		below := at.at(preferred, strconv.Itoa(i))
		r.weight(may[i].Weight, below)
		r.podTerm(&may[i].PodAffinityTerm, below.at("podAffinityTerm"))
	}
}

func (r *reader) podTerm(t *corev1.PodAffinityTerm, at place) {
	r.topologyKey(t.TopologyKey, at)
	r.selector(t.LabelSelector, at.at("labelSelector"))
	r.selector(t.NamespaceSelector, at.at("namespaceSelector"))
}
