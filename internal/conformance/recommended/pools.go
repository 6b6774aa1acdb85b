package recommended

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

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are; and kindRequest: ModelAnswer.
const (
	kindPoolAPI = "inference-api"   // poolAPI
	kindPools   = "inference-pools" // []pool
)

// Groups of the Inference Extension: the stable one, and the one before it.
const (
	poolGroup      = "inference.networking.k8s.io"
	poolAlphaGroup = "inference.networking.x-k8s.io"
	poolResource   = "inferencepools"
)

// maxPools limits how many pools are read.
const maxPools = 50

// Labels of a Gateway's Service: the Gateway API's own, and Envoy Gateway's.
const (
	labelGateway = "gateway.networking.k8s.io/gateway-name"
	labelEnvoy   = "gateway.envoyproxy.io/owning-gateway-name"
)

var gateways = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}

// poolAPI is the served version of each group that has pools; empty where it is not served.
type poolAPI struct {
	Version string `json:"version,omitempty"`
	Alpha   string `json:"alpha,omitempty"`
}

// pool is an InferencePool with the objects that it refers to.
type pool struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Parents   []poolParent `json:"parents"`
	// Picker is the Service of its endpoint picker, PickerReady its ready endpoints.
	Picker      string `json:"picker"`
	PickerReady int    `json:"pickerReady"`
	// Servers counts the pods that it selects, Ready the ready ones.
	Servers int `json:"servers"`
	Ready   int `json:"ready"`
}

// poolParent is a Gateway that routes to a pool.
type poolParent struct {
	Namespace  string `json:"namespace"`
	Gateway    string `json:"gateway"`
	Accepted   bool   `json:"accepted"`
	Resolved   bool   `json:"resolved"`
	Programmed bool   `json:"programmed"`
	// Service of the Gateway, as "namespace/name:port"; empty where none has its label.
	Service string `json:"service,omitempty"`
}

// gateway returns the programmed Gateway of the pool, or the reason why it has none.
func (p pool) gateway() (parent poolParent, problem string) {
	switch {
	case p.PickerReady == 0:
		return poolParent{}, fmt.Sprintf("its endpoint picker %s has no ready endpoint", p.Picker)
	case p.Ready == 0:
		return poolParent{}, fmt.Sprintf("none of the %d model servers that it selects is ready", p.Servers)
	case len(p.Parents) == 0:
		return poolParent{}, "no Gateway routes to it"
	}
	for _, g := range p.Parents {
		if g.Accepted && g.Resolved && g.Programmed {
			return g, ""
		}
	}
	g := p.Parents[0]
	return poolParent{}, fmt.Sprintf("Gateway %s/%s: accepted: %t, resolved: %t, programmed: %t", g.Namespace, g.Gateway, g.Accepted, g.Resolved, g.Programmed)
}

// Pools checks advanced_inference_ingress: the Gateway API Inference Extension is served, an
// InferencePool is programmed on a Gateway with its endpoint picker and model servers ready,
// and a model answers through that Gateway. It does not judge how the picker decides.
type Pools struct{ deps conformance.Deps }

// NewPools returns the check.
func NewPools(_ *site.Site, _ *profile.Profile, deps conformance.Deps) *Pools {
	return &Pools{deps: deps.WithDefaults(timeout)}
}

// Name implements check.Check.
func (*Pools) Name() string { return "advanced_inference_ingress" }

// Describe lists what the check does.
func (*Pools) Describe() []string {
	return []string{
		"read whether " + poolGroup + "/v1 is served with " + poolResource,
		"find an InferencePool that is accepted and resolved for a programmed Gateway, with its endpoint picker and model servers ready",
		"where there is one, request its models and one token through the Gateway's Service",
	}
}

// Observe implements check.Check. It creates nothing: endpoint picker and model servers are
// the platform's.
func (c *Pools) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), observePools)
}

func observePools(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
	rec.Progress("reading whether the inference extension is served")
	attempt := rec.Begin(kindPoolAPI, "cluster", "GET /apis/"+poolGroup+", /apis/"+poolAlphaGroup)
	gvr, api, failed := readPoolAPI(ctx, cluster)
	if err := attempt.Record(api, failed); err != nil || failed != nil || api.Version == "" {
		return err
	}
	attempt = rec.Begin(kindPools, "cluster", "GET "+poolResource+", gateways, services, endpointslices, pods")
	all, failed := readPools(ctx, cluster, gvr)
	if err := attempt.Record(all, failed); err != nil || failed != nil {
		return err
	}
	for _, p := range all {
		gateway, problem := p.gateway()
		if problem != "" || gateway.Service == "" {
			continue
		}
		rec.Progress("requesting a token through %s", gateway.Service)
		attempt := rec.Begin(kindRequest, gateway.Service, "GET /v1/models, POST /v1/completions through the API server's proxy of the Service")
		return attempt.Record(ProbeModel(ctx, cluster, gateway.Service), ctx.Err())
	}
	return nil
}

func readPoolAPI(ctx context.Context, cluster *kube.Cluster) (schema.GroupVersionResource, poolAPI, error) {
	var api poolAPI
	gvr, ok, err := discover(ctx, cluster, poolGroup, poolResource)
	if err != nil {
		return gvr, api, err
	}
	if ok {
		api.Version = gvr.Version
	}
	alpha, ok, err := discover(ctx, cluster, poolAlphaGroup, poolResource)
	if ok {
		api.Alpha = alpha.Version
	}
	return gvr, api, err
}

func readPools(ctx context.Context, cluster *kube.Cluster, gvr schema.GroupVersionResource) ([]pool, error) {
	list, err := cluster.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{Limit: maxPools})
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
	p := pool{Namespace: u.GetNamespace(), Name: u.GetName(), Parents: []poolParent{}}
	p.Picker, _, _ = unstructured.NestedString(u.Object, "spec", "endpointPickerRef", "name")
	var err error
	if p.PickerReady, err = readyEndpoints(ctx, cluster, p.Namespace, p.Picker); err != nil {
		return p, err
	}
	selector, _, _ := unstructured.NestedStringMap(u.Object, "spec", "selector", "matchLabels")
	if len(selector) > 0 { // an empty selector would list every pod
		pods, err := cluster.Client.CoreV1().Pods(p.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(selector).String()})
		if err != nil {
			return p, fmt.Errorf("list the model servers of %s/%s: %w", p.Namespace, p.Name, err)
		}
		p.Servers = len(pods.Items)
		for i := range pods.Items {
			if podReady(&pods.Items[i]) {
				p.Ready++
			}
		}
	}
	parents, _, _ := unstructured.NestedSlice(u.Object, "status", "parents")
	for _, raw := range parents {
		status, ok := raw.(map[string]any)
		if !ok {
			continue
		}
		parent, err := readPoolParent(ctx, cluster, p.Namespace, status)
		if err != nil {
			return p, err
		}
		p.Parents = append(p.Parents, parent)
	}
	return p, nil
}

func readyEndpoints(ctx context.Context, cluster *kube.Cluster, namespace, service string) (int, error) {
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

func readPoolParent(ctx context.Context, cluster *kube.Cluster, namespace string, raw map[string]any) (poolParent, error) {
	out := poolParent{Namespace: namespace, Accepted: hasCondition(raw, "Accepted"), Resolved: hasCondition(raw, "ResolvedRefs")}
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
	out.Programmed = hasCondition(status, "Programmed")
	out.Service, err = gatewayService(ctx, cluster, gw)
	return out, err
}

// gatewayService is the Service with a Gateway's label that has the port of its first
// listener.
func gatewayService(ctx context.Context, cluster *kube.Cluster, gw *unstructured.Unstructured) (string, error) {
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
			hasPort := slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return int64(p.Port) == port })
			if hasPort && (label == labelEnvoy || s.Namespace == gw.GetNamespace()) {
				return fmt.Sprintf("%s%s/%s:%d", prefix, s.Namespace, s.Name, port), nil
			}
		}
	}
	return "", nil
}
