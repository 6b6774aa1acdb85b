package inference

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func decode[T any](o *unstructured.Unstructured) (*T, error) {
	var t T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &t); err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
	}
	return &t, nil
}

func classOf(o *unstructured.Unstructured) (class, error) {
	k, err := decode[gwv1.GatewayClass](o)
	if err != nil {
		return class{}, err
	}
	return class{Name: k.Name, Controller: string(k.Spec.ControllerName), Generation: k.Generation, Conditions: conditionsOf(k.Status.Conditions)}, nil
}

func gatewayOf(o *unstructured.Unstructured) (gateway, error) {
	gw, err := decode[gwv1.Gateway](o)
	if err != nil {
		return gateway{}, err
	}
	out := gateway{
		Name: gw.Namespace + "/" + gw.Name, UID: string(gw.UID), Class: string(gw.Spec.GatewayClassName), Generation: gw.Generation,
		Conditions: conditionsOf(gw.Status.Conditions), Addresses: []string{},
	}
	for _, l := range gw.Spec.Listeners {
		out.Port = l.Port
	}
	for _, a := range gw.Status.Addresses {
		if kind := a.Type; kind == nil || *kind == gwv1.IPAddressType || *kind == gwv1.HostnameAddressType {
			out.Addresses = append(out.Addresses, a.Value)
		}
	}
	return out, nil
}

// routeOf reads one controller's status of a route's only parent.
func routeOf(o *unstructured.Unstructured, controller string) (route, error) {
	r, err := decode[gwv1.HTTPRoute](o)
	if err != nil {
		return route{}, err
	}
	out := route{Name: r.Namespace + "/" + r.Name, UID: string(r.UID), Generation: r.Generation, Backends: []string{}, Conditions: conditions{}}
	for _, rule := range r.Spec.Rules {
		for _, b := range rule.BackendRefs {
			if name := string(b.Name); !slices.Contains(out.Backends, name) {
				out.Backends = append(out.Backends, name)
			}
		}
	}
	for _, p := range r.Status.Parents {
		if string(p.ControllerName) == controller && string(p.ParentRef.Name) == gatewayName {
			out.Controller, out.Conditions = controller, conditionsOf(p.Conditions)
		}
	}
	return out, nil
}
