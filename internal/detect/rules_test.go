package detect

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLabelsOfPrometheusRules(t *testing.T) {
	t.Parallel()
	all := &metav1.LabelSelector{}
	labelled := &metav1.LabelSelector{MatchLabels: map[string]string{"release": "stack"}}
	expressed := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "role", Operator: metav1.LabelSelectorOpIn, Values: []string{"alert-rules"}}}}
	of := func(selector, namespaces *metav1.LabelSelector) []Rules {
		return []Rules{{Namespace: "monitoring", Name: "k8s", Selector: selector, Namespaces: namespaces}}
	}
	for name, tt := range map[string]struct {
		snapshot Snapshot
		want     []string
		todos    int
	}{
		"labels":                  {Snapshot{Rules: of(labelled, all)}, []string{"  alert:\n    ruleLabels: {release: stack}  # seen: ruleSelector of Prometheus monitoring/k8s\n"}, 0},
		"all rules":               {Snapshot{Rules: of(all, all)}, []string{"  # alert.ruleLabels: none needed"}, 0},
		"expressions":             {Snapshot{Rules: of(expressed, all)}, []string{"ruleLabels: {}  # TODO: labels that ruleSelector of Prometheus monitoring/k8s selects: role in (alert-rules)"}, 1},
		"no selector":             {Snapshot{Rules: of(nil, all)}, []string{"# TODO: ruleSelector of Prometheus monitoring/k8s is not set: it selects no PrometheusRule"}, 1},
		"its own namespace":       {Snapshot{Rules: of(labelled, nil)}, []string{"ruleLabels: {release: stack}  # seen", "of namespace monitoring only; set it to {}, or run accept --namespace monitoring"}, 1},
		"namespaces by label":     {Snapshot{Rules: of(all, labelled)}, []string{"selects namespaces with release=stack"}, 1},
		"two Prometheus objects":  {Snapshot{Rules: append(of(labelled, all), of(nil, all)...)}, []string{"one of Prometheus monitoring/k8s (release=stack), Prometheus monitoring/k8s (no selector)"}, 1},
		"an operator out of view": {Snapshot{RulesServed: true}, []string{"ruleLabels: {}  # TODO: the labels that PrometheusRules need"}, 1},
		"no operator":             {Snapshot{}, []string{"through: alertmanager  # TODO: the cluster serves no PrometheusRules"}, 1},
		"forbidden":               {Snapshot{Unread: map[string]string{unreadRules: "list prometheuses: forbidden"}}, []string{"ruleLabels: {}  # TODO: ", "list prometheuses: forbidden"}, 1},
	} {
		p := &page{}
		tt.snapshot.alert(p)
		for _, want := range tt.want {
			if !strings.Contains(p.b.String(), want) {
				t.Errorf("%s: %q lacks %q", name, p.b.String(), want)
			}
		}
		if p.todos != tt.todos {
			t.Errorf("%s: %d TODOs, want %d: %q", name, p.todos, tt.todos, p.b.String())
		}
	}
}
