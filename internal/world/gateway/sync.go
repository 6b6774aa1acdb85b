package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/firstlight/firstlight/internal/world"
)

// sync updates listeners, routing tables and statuses from the API's objects and the world.
func (g *Gateways) sync(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	faults := g.config.World.Recent().Gateway
	g.waiting = false
	g.syncErr = g.all(ctx, faults)
	if g.syncErr == nil {
		g.applied = faults
	}
	return g.syncErr
}

func (g *Gateways) all(ctx context.Context, faults world.Gateway) error {
	classes, err := decode[gwv1.GatewayClass](g.classes.GetStore())
	errs := []error{err}
	ours := map[gwv1.ObjectName]bool{}
	for _, c := range classes {
		if c.Spec.ControllerName == ControllerName {
			ours[gwv1.ObjectName(c.Name)] = true
			errs = append(errs, g.update(ctx, classResource(), c.ObjectMeta, &c.Status, new(classStatus(c))))
		}
	}
	gateways, err := decode[gwv1.Gateway](g.gateways.GetStore())
	errs = append(errs, err)
	gateways = slices.DeleteFunc(gateways, func(gw *gwv1.Gateway) bool { return !ours[gw.Spec.GatewayClassName] || gw.DeletionTimestamp != nil })
	routes, err := decode[gwv1.HTTPRoute](g.routes.GetStore())
	errs = append(errs, err)
	g.closeGone(gateways)
	parents := map[types.UID][]parent{}
	for _, gw := range gateways {
		attached := attachAll(gw, routes, parents)
		next := gatewayStatus(gw, g.program(ctx, gw, attached, faults), attached)
		errs = append(errs, g.update(ctx, gatewayResource(), gw.ObjectMeta, &gw.Status, &next))
	}
	for _, r := range routes {
		next := routeStatus(r, parents[r.UID], func(namespace, name string, port int32) error {
			_, _, err := g.backends.port(namespace, name, port)
			return err
		})
		errs = append(errs, g.update(ctx, routeResource(), r.ObjectMeta, &r.Status, &next))
	}
	return errors.Join(errs...)
}

// attachAll evaluates every reference to a Gateway and records the results in parents.
func attachAll(gw *gwv1.Gateway, routes []*gwv1.HTTPRoute, parents map[types.UID][]parent) []attachment {
	var out []attachment
	for _, r := range routes {
		if r.DeletionTimestamp != nil {
			continue
		}
		for _, ref := range r.Spec.ParentRefs {
			if !names(ref, r.Namespace, gw) {
				continue
			}
			listeners, reason := attach(gw, r, ref)
			parents[r.UID] = append(parents[r.UID], parent{ref: ref, reason: reason})
			if len(listeners) > 0 {
				out = append(out, attachment{route: r, listeners: listeners})
			}
		}
	}
	return out
}

// names reports whether a reference is to a Gateway.
func names(ref gwv1.ParentReference, own string, gw *gwv1.Gateway) bool {
	if ref.Group != nil && *ref.Group != gwv1.GroupName || ref.Kind != nil && *ref.Kind != "Gateway" {
		return false
	}
	if ref.Namespace != nil {
		own = string(*ref.Namespace)
	}
	return string(ref.Name) == gw.Name && own == gw.Namespace
}

// program opens a Gateway's listener, or replaces it after a change of ports, and sets the routing
// tables of its ports.
func (g *Gateways) program(ctx context.Context, gw *gwv1.Gateway, attached []attachment, faults world.Gateway) programmed {
	if faults.NotProgrammed != "" {
		g.shut(gw.UID)
		return programmed{reason: gwv1.GatewayConditionReason(faults.NotProgrammed), message: "no address could be assigned to the gateway"}
	}
	if len(gw.Spec.Addresses) > 0 {
		g.shut(gw.UID)
		return programmed{reason: gwv1.GatewayReasonAddressNotUsable, message: "addresses cannot be requested"}
	}
	served, rules := tables(gw, attached, g.rules[gw.UID])
	ports := slices.Sorted(maps.Keys(served))
	if len(ports) == 0 {
		g.shut(gw.UID)
		return programmed{reason: gwv1.GatewayReasonInvalid, message: "no listener can be served"}
	}
	d := g.listeners[gw.UID]
	if d == nil || !d.has(ports) {
		g.shut(gw.UID)
		var err error
		if d, err = open(ctx, g.hosts, ports, func() *proxy { return newProxy(g.backends, g.transport, g.config.Log) }); err != nil {
			if !errors.Is(err, errTaken) {
				return programmed{reason: gwv1.GatewayReasonInvalid, message: err.Error()}
			}
			g.waiting = true // another program of the machine may free the port
			return programmed{reason: gwv1.GatewayReasonNoResources, message: err.Error()}
		}
		g.listeners[gw.UID] = d
	}
	g.rules[gw.UID] = rules
	for port, t := range served {
		d.ports[port].faults.Store(&faults)
		d.ports[port].table.Store(&t)
	}
	return programmed{host: d.host, reason: gwv1.GatewayReasonProgrammed}
}

func (g *Gateways) shut(id types.UID) {
	if d := g.listeners[id]; d != nil {
		d.close()
	}
	delete(g.listeners, id)
	delete(g.rules, id)
}

// closeGone closes listeners of deleted Gateways.
func (g *Gateways) closeGone(gateways []*gwv1.Gateway) {
	for id := range g.listeners {
		if !slices.ContainsFunc(gateways, func(gw *gwv1.Gateway) bool { return gw.UID == id }) {
			g.shut(id)
		}
	}
}

// update writes a changed status. A conflict or a deletion triggers another sync.
func (g *Gateways) update(ctx context.Context, kind schema.GroupVersionResource, of metav1.ObjectMeta, have, want any) error {
	if apiequality.Semantic.DeepEqual(have, want) {
		return nil
	}
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(want)
	if err != nil {
		return fmt.Errorf("encode status of %s %s: %w", kind.Resource, of.Name, err)
	}
	// The API server ignores everything but the status.
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gwv1.GroupVersion.String(), "kind": kindOf(kind), "status": status,
		"metadata": map[string]any{"name": of.Name, "namespace": of.Namespace, "uid": string(of.UID), "resourceVersion": of.ResourceVersion},
	}}
	_, err = g.config.Dynamic.Resource(kind).Namespace(of.Namespace).UpdateStatus(ctx, obj, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("update status of %s %s: %w", kind.Resource, of.Name, err)
	}
	return nil
}

func kindOf(r schema.GroupVersionResource) string {
	switch r {
	case classResource():
		return "GatewayClass"
	case gatewayResource():
		return "Gateway"
	}
	return "HTTPRoute"
}

// decode returns a store's objects, sorted by namespace and name.
func decode[T any](store cache.Store) ([]*T, error) {
	var objects []*unstructured.Unstructured
	for _, obj := range store.List() {
		if u, ok := obj.(*unstructured.Unstructured); ok {
			objects = append(objects, u)
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	var out []*T
	var errs []error
	for _, u := range objects {
		var t T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &t); err != nil {
			errs = append(errs, fmt.Errorf("read %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err))
			continue
		}
		out = append(out, &t)
	}
	return out, errors.Join(errs...)
}

// hostIP returns the host part of an address.
func hostIP(address string) string {
	if ip, _, err := net.SplitHostPort(address); err == nil {
		return ip
	}
	return address
}
