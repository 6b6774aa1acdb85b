package detect

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Rules are the selectors of a Prometheus object of prometheus-operator. A selector that is not set
// selects nothing (rules) or the namespace of the object (namespaces); an empty one selects all.
type Rules struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Selector of PrometheusRules (spec.ruleSelector), Namespaces of theirs (spec.ruleNamespaceSelector).
	Selector   *metav1.LabelSelector `json:"ruleSelector,omitempty"`
	Namespaces *metav1.LabelSelector `json:"ruleNamespaceSelector,omitempty"`
}

// readRules reads the selectors of every Prometheus object, and whether PrometheusRules are served.
func (s *Snapshot) readRules(ctx context.Context, cluster *kube.Cluster) error {
	of := schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
	_, err := cluster.Dynamic.Resource(of).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("list %s: %w", of.Resource, err)
	}
	s.RulesServed = err == nil
	of.Resource = "prometheuses"
	items, err := listCustom(ctx, cluster, of)
	if err != nil {
		return err
	}
	for _, o := range items {
		r := Rules{Namespace: o.GetNamespace(), Name: o.GetName()}
		for key, to := range map[string]**metav1.LabelSelector{"ruleSelector": &r.Selector, "ruleNamespaceSelector": &r.Namespaces} {
			given, found, err := unstructured.NestedMap(o.Object, "spec", key)
			if err != nil {
				return fmt.Errorf("read %s of Prometheus %s/%s: %w", key, r.Namespace, r.Name, err)
			}
			if !found {
				continue
			}
			*to = &metav1.LabelSelector{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(given, *to); err != nil {
				return fmt.Errorf("read %s of Prometheus %s/%s: %w", key, r.Namespace, r.Name, err)
			}
		}
		s.Rules = append(s.Rules, r)
	}
	return nil
}

// alert writes the block telemetry.alert: the labels that Prometheus selects PrometheusRules by.
func (s *Snapshot) alert(p *page) {
	if why := s.Unread[unreadRules]; why != "" {
		p.key(2, "alert")
		p.set(4, "ruleLabels", todo(map[string]string{}, "the labels that ruleSelector of your Prometheus requires; %s", why))
		return
	}
	switch {
	case len(s.Rules) == 0 && s.RulesServed:
		p.key(2, "alert")
		p.set(4, "ruleLabels", todo(map[string]string{}, "the labels that PrometheusRules need; the cluster serves them, and no Prometheus object was seen"))
	case len(s.Rules) == 0:
		p.key(2, "alert")
		p.set(4, "through", todo(site.ThroughAlertmanager, "the cluster serves no PrometheusRules, so the alert is posted to Alertmanager: no rule is proven, and the gate passes as lowered"))
	case len(s.Rules) == 1:
		s.Rules[0].write(p)
	default:
		var names []string
		for _, r := range s.Rules {
			names = append(names, r.ref()+" ("+describeSelector(r.Selector)+")")
		}
		p.key(2, "alert")
		p.set(4, "ruleLabels", todo(map[string]string{}, "the labels that ruleSelector of the Prometheus above requires: one of %s", strings.Join(names, ", ")))
	}
}

func (r Rules) ref() string { return "Prometheus " + r.Namespace + "/" + r.Name }

func (r Rules) write(p *page) {
	switch {
	case r.Selector == nil:
		p.todo(2, "ruleSelector of %s is not set: it selects no PrometheusRule, and gate telemetry needs one; set it", r.ref())
	case len(r.Selector.MatchExpressions) > 0:
		p.key(2, "alert")
		p.set(4, "ruleLabels", todo(orEmpty(r.Selector.MatchLabels), "labels that ruleSelector of %s selects: %s", r.ref(), describeSelector(r.Selector)))
	case len(r.Selector.MatchLabels) > 0:
		p.key(2, "alert")
		p.set(4, "ruleLabels", seen(r.Selector.MatchLabels, "ruleSelector of %s", r.ref()))
	default:
		p.note(2, "alert.ruleLabels: none needed, ruleSelector of %s selects every PrometheusRule", r.ref())
	}
	switch {
	case r.Namespaces == nil:
		p.todo(2, "ruleNamespaceSelector of %s is not set: it selects PrometheusRules of namespace %s only; set it to {}, or run accept --namespace %s", r.ref(), r.Namespace, r.Namespace)
	case len(r.Namespaces.MatchLabels)+len(r.Namespaces.MatchExpressions) > 0:
		p.todo(2, "ruleNamespaceSelector of %s selects namespaces with %s: run accept --namespace with one of them", r.ref(), describeSelector(r.Namespaces))
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func describeSelector(s *metav1.LabelSelector) string {
	switch {
	case s == nil:
		return "no selector"
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return "all"
	default:
		return metav1.FormatLabelSelector(s)
	}
}
