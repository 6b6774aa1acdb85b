package servicemetrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

const (
	byAnnotation = "annotation"
	byPodMonitor = "PodMonitor"
	// scrapeAnnotation is conventional; scrapeSource is its name in relabelling rules.
	scrapeAnnotation = "prometheus.io/scrape"
	scrapeSource     = "__meta_kubernetes_pod_annotation_prometheus_io_scrape"
	// scrapeLabel is selected by the check's PodMonitor.
	scrapeLabel = "firstlight.dev/scrape"
)

// monitorName is the name of a run's PodMonitor: in a namespace that runs share, another one's
// neither serves this run nor is removed by it.
func monitorName(run string) string { return "firstlight-service-metrics-" + run }

func operatorKind(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: plural}
}

var errNoDiscovery = errors.New("cannot discover metrics of services: Prometheus has no job that keeps pods with the annotation prometheus.io/scrape, and no Prometheus of the operator selects PodMonitors")

// findMark finds out how the cluster's Prometheus discovers pods: by a job of its
// configuration, or by PodMonitors that its operator selects. An endpoint in front of Thanos or Mimir, or a managed
// service, does not serve the configuration.
func (o *observer) findMark(ctx context.Context) (mark, error) {
	config, err := o.prom.Config(ctx)
	if err != nil && !errors.Is(err, prom.ErrNotServed) {
		return mark{}, err
	}
	if m, ok := annotationMark(config); ok {
		return m, nil
	}
	list, err := o.cluster.Dynamic.Resource(operatorKind("prometheuses")).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return mark{}, errNoDiscovery
	case err != nil:
		return mark{}, fmt.Errorf("list the operator's Prometheuses: %w", err)
	}
	if _, ok := monitorMark(list.Items, nil); !ok {
		return mark{}, errNoDiscovery
	}
	ns, err := o.namespace(ctx)
	if err != nil {
		return mark{}, err
	}
	m, ok := monitorMark(list.Items, ns)
	if !ok {
		return mark{}, fmt.Errorf("cannot discover metrics of services: no Prometheus of the operator selects PodMonitors of namespace %s (podMonitorNamespaceSelector): let one select namespaces with the label %s", ns.Name, kube.LabelRun)
	}
	return m, nil
}

// namespace is the one of the run, as it will be where it does not exist yet.
func (o *observer) namespace(ctx context.Context) (*corev1.Namespace, error) {
	name := o.cluster.NamespaceFor(o.deps.RunID)
	ns := kube.RunNamespace(name, kube.Labels(o.deps.RunID, ""), nil)
	if o.cluster.Namespace != "" {
		existing, err := o.cluster.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read namespace %s: %w", name, err)
		}
		if err == nil {
			ns = existing
		}
	}
	ns.Labels[corev1.LabelMetadataName] = name
	return ns, nil
}

func annotationMark(c prom.Config) (mark, bool) {
	for _, j := range c.Jobs {
		if slices.Contains(j.Keeps, scrapeSource) {
			return mark{By: byAnnotation, Where: "job " + j.Name, Key: scrapeAnnotation, Value: "true"}, true
		}
	}
	return mark{}, false
}

// monitorMark is a PodMonitor for the first Prometheus that selects any by labels, in a namespace; nil: in any.
func monitorMark(list []unstructured.Unstructured, in *corev1.Namespace) (mark, bool) {
	for _, p := range list {
		selector, found, err := unstructured.NestedMap(p.Object, "spec", "podMonitorSelector")
		if err != nil || !found || selector == nil {
			continue // it selects none
		}
		own, _, err := unstructured.NestedStringMap(p.Object, "spec", "podMonitorSelector", "matchLabels")
		if _, expressions := selector["matchExpressions"]; err != nil || expressions {
			continue
		}
		if in != nil && !selectsNamespace(p, in) {
			continue
		}
		return mark{By: byPodMonitor, Where: "Prometheus " + p.GetNamespace() + "/" + p.GetName(), Own: own, Key: scrapeLabel, Value: "true"}, true
	}
	return mark{}, false
}

// selectsNamespace reports whether a Prometheus looks for PodMonitors in a namespace. Without a selector it looks in its own only.
func selectsNamespace(p unstructured.Unstructured, ns *corev1.Namespace) bool {
	raw, found, err := unstructured.NestedMap(p.Object, "spec", "podMonitorNamespaceSelector")
	if err != nil || !found || raw == nil {
		return err == nil && p.GetNamespace() == ns.Name
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &selector); err != nil {
		return false
	}
	matches, err := metav1.LabelSelectorAsSelector(&selector)
	return err == nil && matches.Matches(labels.Set(ns.Labels))
}

// monitor is a PodMonitor that selects pods with the mark.
func monitor(m mark, namespace, run string) *unstructured.Unstructured {
	own := map[string]any{}
	for k, v := range m.Own {
		own[k] = v
	}
	for k, v := range kube.Labels(run, Name) {
		own[k] = v
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor",
		"metadata": map[string]any{"name": monitorName(run), "namespace": namespace, "labels": own},
		"spec": map[string]any{
			"selector":            map[string]any{"matchLabels": map[string]any{m.Key: m.Value}},
			"podMetricsEndpoints": []any{map[string]any{"targetPort": int64(inference.Port), "path": "/metrics"}},
		},
	}}
}

// prepare creates everything except the mark.
func (o *observer) prepare(ctx context.Context, m mark, p pod) error {
	if m.By == byPodMonitor {
		_, err := o.cluster.Dynamic.Resource(operatorKind("podmonitors")).Namespace(p.Namespace).Create(ctx, monitor(m, p.Namespace, o.deps.RunID), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create PodMonitor %s: %w", monitorName(o.deps.RunID), err)
		}
		return nil
	}
	return o.patch(ctx, p, map[string]any{"annotations": map[string]any{
		"prometheus.io/port": strconv.Itoa(inference.Port), "prometheus.io/path": "/metrics",
	}})
}

// cleanUp removes the PodMonitor of prepare.
func (o *observer) cleanUp(ctx context.Context, m mark, p pod) {
	if m.By != byPodMonitor {
		return
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	err := o.cluster.Dynamic.Resource(operatorKind("podmonitors")).Namespace(p.Namespace).Delete(cleanup, monitorName(o.deps.RunID), metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		o.rec.Progress("cannot remove PodMonitor %s: %v", monitorName(o.deps.RunID), err)
	}
}

// set adds the mark to the pod, or removes it.
func (o *observer) set(ctx context.Context, m mark, p pod, on bool) error {
	var value any
	if on {
		value = m.Value
	}
	field := "labels"
	if m.By == byAnnotation {
		field = "annotations"
	}
	return o.patch(ctx, p, map[string]any{field: map[string]any{m.Key: value}})
}

func (o *observer) patch(ctx context.Context, p pod, change map[string]any) error {
	change["uid"] = p.UID
	raw, err := json.Marshal(map[string]any{"metadata": change})
	if err != nil {
		return fmt.Errorf("encode a patch of pod %s: %w", p.Name, err)
	}
	if _, err := o.cluster.Client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, raw, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("mark pod %s: %w", p.Name, err)
	}
	return nil
}
