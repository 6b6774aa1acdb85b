package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// raiser raises the synthetic alert and ends it.
type raiser interface {
	// raise raises the alert; it ends by itself at a time, also if this process is killed.
	raise(ctx context.Context, until time.Time) error
	// end resolves the alert.
	end(ctx context.Context) error
	// endEarlier ends what raises the alert of an earlier attempt of the run.
	endEarlier(ctx context.Context) error
	// raises reports whether it still exists.
	raises(ctx context.Context) (bool, error)
	// remove removes what raised it, once it is resolved.
	remove(ctx context.Context) error
	command() string
	endCommand() string
}

// posted is an alert that is posted to every Alertmanager.
type posted struct {
	ams   []prom.Alertmanager
	alert prom.Alert
	now   func() time.Time
}

func (p *posted) raise(ctx context.Context, until time.Time) error {
	p.alert.StartsAt, p.alert.EndsAt = p.now(), until
	return p.post(ctx)
}

func (p *posted) end(ctx context.Context) error {
	p.alert.EndsAt = p.now()
	return p.post(ctx)
}

// post posts the alert to every Alertmanager, also if one of them does not accept it.
func (p *posted) post(ctx context.Context) error {
	var problems []error
	for _, am := range p.ams {
		problems = append(problems, am.Post(ctx, p.alert))
	}
	return errors.Join(problems...)
}

func (*posted) endEarlier(context.Context) error { return nil }

func (*posted) raises(context.Context) (bool, error) { return false, nil }

func (*posted) remove(context.Context) error { return nil }

func (*posted) command() string { return "POST /api/v2/alerts " + alertName }

func (*posted) endCommand() string { return "POST /api/v2/alerts " + alertName + " with endsAt" }

// ruled is an alert of a PrometheusRule of the run.
type ruled struct {
	cluster *kube.Cluster
	run     string
	labels  map[string]string // of the object
	alert   prom.Alert
}

// ruleName is the name of the run's PrometheusRule: a namespace may be shared by runs.
func ruleName(run string) string { return "firstlight-alert-" + run }

// untilExpr is true before a time of Prometheus' clock: an alert that nothing removes ends by itself.
func untilExpr(t time.Time) string {
	return "vector(time()) < " + strconv.FormatInt(t.Unix(), 10)
}

// rules are the PrometheusRules of the run's namespace.
func (r *ruled) rules() dynamic.ResourceInterface {
	return r.cluster.Dynamic.Resource(kube.PrometheusRules()).Namespace(r.cluster.NamespaceFor(r.run))
}

func (r *ruled) raise(ctx context.Context, until time.Time) error {
	namespace, err := (kube.Guest{Cluster: r.cluster}).EnsureNamespace(ctx, r.run)
	if err != nil {
		return err
	}
	objectLabels := kube.Labels(r.run, Name)
	maps.Copy(objectLabels, r.labels)
	rule := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kube.PrometheusRules().GroupVersion().String(), "kind": "PrometheusRule",
		"spec": map[string]any{"groups": []any{map[string]any{"name": ruleName(r.run), "rules": []any{map[string]any{
			"alert": alertName, "expr": untilExpr(until), "labels": anyMap(r.alert.Labels, "alertname"), "annotations": anyMap(r.alert.Annotations, ""),
		}}}}},
	}}
	rule.SetName(ruleName(r.run))
	rule.SetNamespace(namespace)
	rule.SetLabels(objectLabels)
	_, err = r.rules().Create(ctx, rule, metav1.CreateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the cluster has no PrometheusRule (monitoring.coreos.com/v1): %w", err)
	case err != nil:
		return fmt.Errorf("create PrometheusRule %s/%s: %w", namespace, ruleName(r.run), err)
	}
	return nil
}

// own calls do for each rule of the run, also one whose creation had no response. It has the label of
// the run; do must require its UID.
func (r *ruled) own(ctx context.Context, do func(rule *unstructured.Unstructured) error) error {
	list, err := r.rules().List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(kube.Labels(r.run, Name)).String()})
	if apierrors.IsNotFound(err) { // no such kind
		return nil
	}
	if err != nil {
		return fmt.Errorf("list PrometheusRules of run %s: %w", r.run, err)
	}
	var problems []error
	for i := range list.Items {
		if err := do(&list.Items[i]); err != nil && !apierrors.IsNotFound(err) {
			problems = append(problems, fmt.Errorf("PrometheusRule %s/%s: %w", list.Items[i].GetNamespace(), list.Items[i].GetName(), err))
		}
	}
	return errors.Join(problems...)
}

// end makes the expression false: Prometheus then sends the resolved alert, which it does not if the
// rule is removed.
func (r *ruled) end(ctx context.Context) error {
	return r.own(ctx, func(rule *unstructured.Unstructured) error {
		patch := fmt.Sprintf(`[{"op":"test","path":"/metadata/uid","value":%q},{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":%q}]`, rule.GetUID(), untilExpr(time.Unix(0, 0)))
		_, err := r.rules().Patch(ctx, rule.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
		return err
	})
}

// endEarlier ends the rule of a killed attempt.
func (r *ruled) endEarlier(ctx context.Context) error { return r.end(ctx) }

func (r *ruled) raises(ctx context.Context) (bool, error) {
	n := 0
	err := r.own(ctx, func(*unstructured.Unstructured) error { n++; return nil })
	return n > 0, err
}

func (r *ruled) remove(ctx context.Context) error {
	return r.own(ctx, func(rule *unstructured.Unstructured) error {
		uid := rule.GetUID()
		return r.rules().Delete(ctx, rule.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	})
}

func (r *ruled) command() string {
	return "create PrometheusRule " + ruleName(r.run) + " with alert " + alertName
}

func (r *ruled) endCommand() string {
	return "make the expression of PrometheusRule " + ruleName(r.run) + " false"
}

// anyMap is a map without one key, for an unstructured object.
func anyMap(m map[string]string, without string) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		if k != without {
			out[k] = v
		}
	}
	return out
}

// newRaiser is the site's way to raise the alert.
func (g *Gate) newRaiser(cluster *kube.Cluster, ams []prom.Alertmanager, alert prom.Alert) raiser {
	if g.telemetry.Alert.Through == site.ThroughAlertmanager {
		return &posted{ams: ams, alert: alert, now: g.deps.Clock.Now}
	}
	return &ruled{cluster: cluster, run: g.deps.RunID, labels: g.telemetry.Alert.RuleLabels, alert: alert}
}
