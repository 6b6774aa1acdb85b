package site

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/util/validation"
)

// How the synthetic alert of gate telemetry is raised.
const (
	// ThroughRule: by a rule of Prometheus, a PrometheusRule of prometheus-operator.
	ThroughRule = "rule"
	// ThroughAlertmanager: posted to Alertmanager. No rule is proven.
	ThroughAlertmanager = "alertmanager"
)

// RunAlertLabel is the label of the synthetic alert whose value is the run's ID.
const RunAlertLabel = "firstlight_run"

// AlertProof is how gate telemetry proves that alerts reach their receiver.
type AlertProof struct {
	// Through is ThroughRule (default) or ThroughAlertmanager.
	Through string `yaml:"through,omitempty" json:"through,omitempty"`
	// RuleLabels are the labels by which Prometheus selects PrometheusRules (its ruleSelector), such as
	// {release: kube-prometheus-stack}.
	RuleLabels map[string]string `yaml:"ruleLabels,omitempty" json:"ruleLabels,omitempty"`
	// RuleWithin is the longest time until Prometheus fires an alert of a new PrometheusRule.
	RuleWithin Duration `yaml:"ruleWithin,omitempty" json:"ruleWithin,omitempty"`
	// Labels are those of the alert, without alertname and RunAlertLabel; default {severity: critical}.
	Labels map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
	// PagesNobody: no person is paged by the receiver. Otherwise an alert is raised only with --page.
	PagesNobody bool `yaml:"pagesNobody,omitempty" json:"pagesNobody,omitempty"`
}

func (v *validator) alert(a *AlertProof) {
	const path = "telemetry.alert"
	v.oneOf(path+".through", a.Through, []string{ThroughRule, ThroughAlertmanager})
	if a.RuleWithin.D() <= 0 {
		v.add(path+".ruleWithin", "must be a positive duration, such as 5m")
	}
	for _, name := range slices.Sorted(maps.Keys(a.RuleLabels)) {
		problems := slices.Concat(validation.IsQualifiedName(name), validation.IsValidLabelValue(a.RuleLabels[name]))
		if len(problems) > 0 {
			v.add(path+".ruleLabels."+name, "invalid label: %s", strings.Join(problems, "; "))
		}
		if strings.HasPrefix(name, "firstlight.dev/") || strings.HasPrefix(name, "app.kubernetes.io/") {
			v.add(path+".ruleLabels."+name, "must not be set: it is a label of the run")
		}
	}
	if a.Through == ThroughAlertmanager && len(a.RuleLabels) > 0 {
		v.add(path+".ruleLabels", "has no effect with through: alertmanager: remove it")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		switch {
		case !model.LegacyValidation.IsValidLabelName(name):
			v.add(path+".labels."+name, "invalid label name: must be letters, digits and underscores, such as severity")
		case name == model.AlertNameLabel || strings.HasPrefix(name, "firstlight_"):
			v.add(path+".labels."+name, "must not be set: it is a label of the run's alert")
		}
		v.require(path+".labels."+name, a.Labels[name], "critical")
	}
}
