package pools

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/conformance/answering"
	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/served"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// mostPools bounds how many are looked at.
const mostPools = 50

// Labels by which implementations mark the Service of a Gateway: the Gateway API's own, and
// Envoy Gateway's.
const (
	labelGateway = "gateway.networking.k8s.io/gateway-name"
	labelEnvoy   = "gateway.envoyproxy.io/owning-gateway-name"
)

func look(ctx context.Context, cluster *kube.Cluster, rec record.Notes) error {
	rec.Progress("reading whether the inference extension is served")
	n := rec.Begin(kindServed, "cluster", "GET /apis/"+group+", /apis/"+alpha)
	gvr, have, unseen := readAPI(ctx, cluster)
	if kept := n.Keep(have, unseen); kept != nil || unseen != nil || have.Version == "" {
		return kept //nolint:wrapcheck // the store's
	}
	n = rec.Begin(kindPools, "cluster", "GET "+resource+", gateways, services, endpointslices, pods")
	all, unseen := readPools(ctx, cluster, gvr)
	if kept := n.Keep(all, unseen); kept != nil || unseen != nil {
		return kept //nolint:wrapcheck // the store's
	}
	for _, p := range all {
		through, lacks := p.programmed()
		if lacks != "" || through.Service == "" {
			continue
		}
		rec.Progress("asking %s for a token", through.Service)
		n := rec.Begin(kindRequest, through.Service, "GET /v1/models, POST /v1/completions through the API server's proxy of the Service")
		return n.Keep(answering.Ask(ctx, cluster, through.Service), ctx.Err()) //nolint:wrapcheck // the store's
	}
	return nil
}

func readAPI(ctx context.Context, cluster *kube.Cluster) (schema.GroupVersionResource, api, error) {
	var have api
	gvr, ok, err := served.Find(ctx, cluster, group, resource)
	if err != nil {
		return gvr, have, err //nolint:wrapcheck // says what it reads
	}
	if ok {
		have.Version = gvr.Version
	}
	other, ok, err := served.Find(ctx, cluster, alpha, resource)
	if ok {
		have.Alpha = other.Version
	}
	return gvr, have, err //nolint:wrapcheck // says what it reads
}

func readPools(ctx context.Context, cluster *kube.Cluster, gvr schema.GroupVersionResource) ([]pool, error) {
	list, err := cluster.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{Limit: mostPools})
	if err != nil {
		return nil, fmt.Errorf("list inference pools: %w", err)
	}
	out := []pool{}
	for i := range list.Items {
		p, err := readPool(ctx, cluster, &list.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func readPool(ctx context.Context, cluster *kube.Cluster, u *unstructured.Unstructured) (pool, error) {
	p := pool{Namespace: u.GetNamespace(), Name: u.GetName(), Parents: []parent{}}
	p.Picker, _, _ = unstructured.NestedString(u.Object, "spec", "endpointPickerRef", "name")
	var err error
	if p.PickerReady, err = endpoints(ctx, cluster, p.Namespace, p.Picker); err != nil {
		return p, err
	}
	selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector", "matchLabels")
	if len(selector) > 0 { // none selects nothing here, and not everything
		pods, err := cluster.Client.CoreV1().Pods(p.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(selector).String()})
		if err != nil {
			return p, fmt.Errorf("list the model servers of %s/%s: %w", p.Namespace, p.Name, err)
		}
		p.Servers = len(pods.Items)
		for _, pod := range pods.Items {
			if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
				p.Ready++
			}
		}
	}
	parents, _, _ := unstructured.NestedSlice(u.Object, "status", "parents")
	for _, raw := range parents {
		one, ok := raw.(map[string]any)
		if !ok {
			continue
		}
		seen, err := readParent(ctx, cluster, p.Namespace, one)
		if err != nil {
			return p, err
		}
		p.Parents = append(p.Parents, seen)
	}
	return p, nil
}

// endpoints counts the ready ones of a Service.
func endpoints(ctx context.Context, cluster *kube.Cluster, namespace, service string) (int, error) {
	if service == "" {
		return 0, nil
	}
	list, err := cluster.Client.DiscoveryV1().EndpointSlices(namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + service})
	if err != nil {
		return 0, fmt.Errorf("list endpoints of %s/%s: %w", namespace, service, err)
	}
	n := 0
	for _, s := range list.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready != nil && *e.Conditions.Ready {
				n++
			}
		}
	}
	return n, nil
}

// gateways are the Gateway API's.
var gateways = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}

func readParent(ctx context.Context, cluster *kube.Cluster, namespace string, raw map[string]any) (parent, error) {
	out := parent{Namespace: namespace, Accepted: condition(raw, "Accepted"), Resolved: condition(raw, "ResolvedRefs")}
	out.Gateway, _, _ = unstructured.NestedString(raw, "parentRef", "name")
	if of, _, _ := unstructured.NestedString(raw, "parentRef", "namespace"); of != "" {
		out.Namespace = of
	}
	gw, err := cluster.Dynamic.Resource(gateways).Namespace(out.Namespace).Get(ctx, out.Gateway, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read gateway %s/%s: %w", out.Namespace, out.Gateway, err)
	}
	status, _, _ := unstructured.NestedMap(gw.Object, "status")
	out.Programmed = condition(status, "Programmed")
	out.Service, err = serviceOf(ctx, cluster, gw)
	return out, err
}

// condition says that a status has a condition that is true.
func condition(status map[string]any, name string) bool {
	all, _, _ := unstructured.NestedSlice(status, "conditions")
	return slices.ContainsFunc(all, func(raw any) bool {
		c, ok := raw.(map[string]any)
		return ok && c["type"] == name && c["status"] == string(metav1.ConditionTrue)
	})
}

// serviceOf is the Service that is labelled as a Gateway's, with the port of its first
// listener.
func serviceOf(ctx context.Context, cluster *kube.Cluster, gw *unstructured.Unstructured) (string, error) {
	listeners, _, _ := unstructured.NestedSlice(gw.Object, "spec", "listeners")
	if len(listeners) == 0 {
		return "", nil
	}
	first, _ := listeners[0].(map[string]any)
	port, _, _ := unstructured.NestedInt64(first, "port")
	prefix := ""
	if first["protocol"] == "HTTPS" {
		prefix = "https:"
	}
	for _, label := range []string{labelGateway, labelEnvoy} {
		list, err := cluster.Client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + gw.GetName()})
		if err != nil {
			return "", fmt.Errorf("list services of gateway %s: %w", gw.GetName(), err)
		}
		for _, s := range list.Items {
			has := slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return int64(p.Port) == port })
			if has && (label == labelEnvoy || s.Namespace == gw.GetNamespace()) {
				return fmt.Sprintf("%s%s/%s:%d", prefix, s.Namespace, s.Name, port), nil
			}
		}
	}
	return "", nil
}
