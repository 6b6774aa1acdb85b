package controller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/utils/ptr"
)

var definitions = Resource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// detect finds the installed operators by their definitions, and selects the first.
func (w *observation) detect(ctx context.Context) (found bool, err error) {
	attempt := w.begin(kindOperators, "cluster", "GET the first definition of each known operator")
	operators := operatorsFigures{LookedFor: definitionsOf(w.operators), Found: []string{}}
	for _, o := range w.operators {
		f, err := w.definition(ctx, o.Definitions[0])
		if err != nil {
			return false, attempt.Record(nil, err)
		}
		if !f.Found {
			continue
		}
		if operators.Used == "" {
			w.operator, operators.Used = o, o.Name
		}
		operators.Found = append(operators.Found, o.Name)
	}
	return operators.Used != "", attempt.Record(operators, nil)
}

// observeDefinitions reads all definitions of the operator.
func (w *observation) observeDefinitions(ctx context.Context) error {
	attempt := w.begin(kindDefinitions, w.operator.Name, "GET %s %v", definitions.Resource, w.operator.Definitions)
	all := []definitionFigures{}
	for _, name := range w.operator.Definitions {
		f, err := w.definition(ctx, name)
		if err != nil {
			return attempt.Record(nil, err)
		}
		all = append(all, f)
	}
	return attempt.Record(all, nil)
}

// definition reads a CustomResourceDefinition; a missing one is not an error.
func (w *observation) definition(ctx context.Context, name string) (definitionFigures, error) {
	f := definitionFigures{Name: name}
	crd, err := w.cluster.Dynamic.Resource(definitions.gvr()).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read definition %s: %w", name, err)
	}
	f.Found = true
	for _, c := range conditionsOf(crd) {
		f.Established = f.Established || c.Type == "Established" && c.Status == metav1.ConditionTrue
	}
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return f, fmt.Errorf("read definition %s: %w", name, err)
	}
	for _, v := range versions {
		if m, ok := v.(map[string]any); ok && m["served"] == true {
			f.Served = append(f.Served, fmt.Sprint(m["name"]))
		}
	}
	return f, nil
}

// observeWebhook finds the operator's webhook in any configuration.
func (w *observation) observeWebhook(ctx context.Context) (webhookFigures, error) {
	attempt := w.begin(kindWebhook, w.operator.Webhook, "GET validatingwebhookconfigurations")
	seen := webhookFigures{Name: w.operator.Webhook}
	list, err := w.cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return seen, attempt.Record(nil, fmt.Errorf("list webhook configurations: %w", err))
	}
	var raw any
	for _, c := range list.Items {
		for _, h := range c.Webhooks {
			if h.Name != w.operator.Webhook || seen.Found {
				continue
			}
			seen.Found, seen.Configuration, seen.UID = true, c.Name, string(c.UID)
			seen.FailurePolicy = string(ptr.Deref(h.FailurePolicy, ""))
			seen.URL = ptr.Deref(h.ClientConfig.URL, "")
			if s := h.ClientConfig.Service; s != nil {
				seen.Service = s.Namespace + "/" + s.Name
			}
			raw = h
		}
	}
	return seen, recordRaw(attempt, seen, raw)
}

// observeController reads the controller that serves the webhook and holds the lease.
func (w *observation) observeController(ctx context.Context, hook webhookFigures, target string) (controllerFigures, error) {
	attempt := w.begin(kindController, target, "GET service %s, its pods, lease %s", hook.Service, w.operator.Lease)
	if !hook.Found {
		return controllerFigures{}, attempt.Record(nil, fmt.Errorf("cannot identify the controller: webhook %s not found", w.operator.Webhook))
	}
	seen, failed := w.controller(ctx, hook, nil)
	if first := seen.Lease; failed == nil && first != nil && len(seen.Pods) == 0 {
		// Only a renewed lease shows that a controller outside of the cluster runs.
		err := w.poll(ctx, time.Duration(max(first.Duration, minLeaseSeconds))*time.Second, func(ctx context.Context) (bool, error) {
			var err error
			seen, err = w.controller(ctx, hook, first)
			return seen.Lease != nil && seen.Lease.Moved, err
		})
		switch {
		case ctx.Err() != nil:
			return seen, err
		case !errors.Is(err, errTimeout):
			failed = err
		}
	}
	return seen, attempt.Record(seen, failed)
}

// minLeaseSeconds is how long a lease is watched at least.
const minLeaseSeconds = 15

// controller reads the controller once; earlier is the previous lease, to detect a renewal.
func (w *observation) controller(ctx context.Context, hook webhookFigures, earlier *leaseState) (controllerFigures, error) {
	seen := controllerFigures{Service: hook.Service, Outside: hook.URL, Pods: []podState{}}
	namespace, name, _ := strings.Cut(hook.Service, "/")
	if name == "" {
		return seen, nil
	}
	service, err := w.cluster.Client.CoreV1().Services(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return seen, fmt.Errorf("read service %s: %w", hook.Service, err)
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		seen.Outside = service.Spec.ExternalName
		if len(service.Spec.Ports) > 0 {
			seen.Outside = net.JoinHostPort(seen.Outside, strconv.Itoa(int(service.Spec.Ports[0].Port)))
		}
	}
	if len(service.Spec.Selector) > 0 {
		selector := labels.SelectorFromSet(service.Spec.Selector).String()
		pods, err := w.cluster.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return seen, fmt.Errorf("list pods of service %s: %w", hook.Service, err)
		}
		for i := range pods.Items {
			seen.Pods = append(seen.Pods, stateOf(&pods.Items[i]))
		}
	}
	seen.Lease, err = w.lease(ctx, namespace)
	if seen.Lease != nil && earlier != nil {
		seen.Lease.Moved = seen.Lease.Holder != earlier.Holder || !seen.Lease.Renewed.Equal(earlier.Renewed)
	}
	return seen, err
}

func stateOf(p *corev1.Pod) podState {
	s := podState{Name: p.Name, UID: string(p.UID), Phase: string(p.Status.Phase), Leaving: p.DeletionTimestamp != nil}
	for _, c := range p.Status.Conditions {
		s.Ready = s.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return s
}

// lease reads the controller's lease; nil if it has none.
func (w *observation) lease(ctx context.Context, namespace string) (*leaseState, error) {
	if w.operator.Lease == "" {
		return nil, nil
	}
	lease, err := w.cluster.Client.CoordinationV1().Leases(namespace).Get(ctx, w.operator.Lease, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read lease %s/%s: %w", namespace, w.operator.Lease, err)
	}
	s := &leaseState{
		Name: namespace + "/" + lease.Name, Holder: ptr.Deref(lease.Spec.HolderIdentity, ""),
		Duration: int(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)), Transitions: int(ptr.Deref(lease.Spec.LeaseTransitions, 0)),
	}
	if lease.Spec.RenewTime != nil {
		s.Renewed = lease.Spec.RenewTime.UTC()
	}
	return s, nil
}

// resourceOf discovers the plural of an object's kind.
func (w *observation) resourceOf(o *unstructured.Unstructured) (Resource, error) {
	groups, err := restmapper.GetAPIGroupResources(w.cluster.Client.Discovery())
	if err != nil {
		return Resource{}, fmt.Errorf("discover %s: %w", o.GetKind(), err)
	}
	gvk := o.GroupVersionKind()
	mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return Resource{}, fmt.Errorf("discover %s: %w", o.GetKind(), err)
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return Resource{}, fmt.Errorf("%s is not namespaced: the check creates objects only in the run's namespace", o.GetKind())
	}
	return Resource{Group: mapping.Resource.Group, Version: mapping.Resource.Version, Resource: mapping.Resource.Resource}, nil
}

// clientOf is a client for an object's kind in the run's namespace.
func (w *observation) clientOf(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	r, err := w.resourceOf(o)
	if err != nil {
		return nil, err
	}
	return w.cluster.Dynamic.Resource(r.gvr()).Namespace(w.namespace), nil
}

// conditionsOf lists the conditions of an object, except those that cannot be read.
func conditionsOf(o *unstructured.Unstructured) []metav1.Condition {
	list, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return nil
	}
	out := []metav1.Condition{}
	for _, c := range list {
		m, ok := c.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := m[key].(string); return s }
		condition := metav1.Condition{Type: text("type"), Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message")}
		if t, err := timeOf(text("lastTransitionTime")); err == nil {
			condition.LastTransitionTime = t
		}
		out = append(out, condition)
	}
	return out
}

func timeOf(text string) (t metav1.Time, err error) {
	err = t.UnmarshalQueryParameter(text)
	return t, err
}
