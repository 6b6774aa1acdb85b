package gateway

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// condition returns a condition; message is empty if the reason is sufficient.
func condition[T, R ~string](kind T, ok bool, generation int64, reason R, message string) metav1.Condition {
	status := metav1.ConditionFalse
	if ok {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{Type: string(kind), Status: status, ObservedGeneration: generation, Reason: string(reason), Message: message}
}

// put sets conditions and keeps the transition times of unchanged ones.
func put(have []metav1.Condition, now ...metav1.Condition) []metav1.Condition {
	out := append([]metav1.Condition(nil), have...)
	for _, c := range now {
		meta.SetStatusCondition(&out, c)
	}
	return out
}

func classStatus(c *gwv1.GatewayClass) gwv1.GatewayClassStatus {
	out := *c.Status.DeepCopy()
	out.Conditions = put(out.Conditions, condition(gwv1.GatewayClassConditionStatusAccepted, true, c.Generation, gwv1.GatewayClassReasonAccepted, "the world implements the gateways of this class"))
	return out
}

// programmed is the result for a Gateway's listeners: their address, or the reason for its absence.
type programmed struct {
	host    string
	reason  gwv1.GatewayConditionReason
	message string
}

func gatewayStatus(gw *gwv1.Gateway, p programmed, attached []attachment) gwv1.GatewayStatus {
	out := *gw.Status.DeepCopy()
	out.Addresses = nil
	if p.host != "" {
		kind := gwv1.IPAddressType
		out.Addresses = []gwv1.GatewayStatusAddress{{Type: &kind, Value: p.host}}
	}
	served := 0
	counts, before := routed(attached), out.Listeners
	out.Listeners = nil
	for _, l := range gw.Spec.Listeners {
		if serves(l) {
			served++
		}
		out.Listeners = append(out.Listeners, listenerStatus(l, before, p, gw.Generation, counts[l.Name]))
	}
	accepted := condition(gwv1.GatewayConditionAccepted, true, gw.Generation, gwv1.GatewayReasonAccepted, "")
	if served < len(gw.Spec.Listeners) {
		accepted = condition(gwv1.GatewayConditionAccepted, served > 0, gw.Generation, gwv1.GatewayReasonListenersNotValid, fmt.Sprintf("%d of %d listeners are plain HTTP; other protocols are not supported", served, len(gw.Spec.Listeners)))
	}
	out.Conditions = put(out.Conditions, accepted, condition(gwv1.GatewayConditionProgrammed, p.host != "", gw.Generation, p.reason, p.message))
	return out
}

func listenerStatus(l gwv1.Listener, before []gwv1.ListenerStatus, p programmed, generation int64, routes int32) gwv1.ListenerStatus {
	out := gwv1.ListenerStatus{Name: l.Name, AttachedRoutes: routes, SupportedKinds: []gwv1.RouteGroupKind{}, Conditions: []metav1.Condition{}}
	for _, b := range before {
		if b.Name == l.Name {
			out.Conditions = b.Conditions
		}
	}
	group := gwv1.Group(gwv1.GroupName)
	resolved := condition(gwv1.ListenerConditionResolvedRefs, true, generation, gwv1.ListenerReasonResolvedRefs, "")
	if serves(l) {
		kinds := l.AllowedRoutes == nil || len(l.AllowedRoutes.Kinds) == 0
		for i := 0; !kinds && i < len(l.AllowedRoutes.Kinds); i++ {
			kinds = isHTTPRoute(l.AllowedRoutes.Kinds[i])
		}
		if kinds {
			out.SupportedKinds = append(out.SupportedKinds, gwv1.RouteGroupKind{Group: &group, Kind: "HTTPRoute"})
		} else {
			resolved = condition(gwv1.ListenerConditionResolvedRefs, false, generation, gwv1.ListenerReasonInvalidRouteKinds, "HTTPRoutes only")
		}
		up := condition(gwv1.ListenerConditionProgrammed, p.host != "", generation, gwv1.ListenerReasonProgrammed, "")
		if p.host == "" {
			up.Reason, up.Message = string(gwv1.ListenerReasonPending), p.message
		}
		out.Conditions = put(out.Conditions, condition(gwv1.ListenerConditionAccepted, true, generation, gwv1.ListenerReasonAccepted, ""), up, resolved)
		return out
	}
	out.Conditions = put(out.Conditions,
		condition(gwv1.ListenerConditionAccepted, false, generation, gwv1.ListenerReasonUnsupportedProtocol, "plain HTTP only"),
		condition(gwv1.ListenerConditionProgrammed, false, generation, gwv1.ListenerReasonInvalid, "plain HTTP only"), resolved)
	return out
}

// parent is the result of one reference of a route to a Gateway.
type parent struct {
	ref    gwv1.ParentReference
	reason gwv1.RouteConditionReason
}

// routeStatus keeps the parents of other controllers.
func routeStatus(route *gwv1.HTTPRoute, parents []parent, service func(namespace, name string, port int32) error) gwv1.HTTPRouteStatus {
	out := *route.Status.DeepCopy()
	before := out.Parents
	out.Parents = []gwv1.RouteParentStatus{}
	for _, b := range before {
		if b.ControllerName != ControllerName {
			out.Parents = append(out.Parents, b)
		}
	}
	reason, messages := resolved(route, service)
	for _, p := range parents {
		s := gwv1.RouteParentStatus{ParentRef: p.ref, ControllerName: ControllerName}
		for _, b := range before {
			if b.ControllerName == ControllerName && same(b.ParentRef, p.ref) {
				s.Conditions = b.Conditions
			}
		}
		message := ""
		if p.reason == gwv1.RouteReasonUnsupportedValue {
			message = "not supported: " + unsupported(route)
		}
		s.Conditions = put(s.Conditions,
			condition(gwv1.RouteConditionAccepted, p.reason == gwv1.RouteReasonAccepted, route.Generation, p.reason, message),
			condition(gwv1.RouteConditionResolvedRefs, reason == gwv1.RouteReasonResolvedRefs, route.Generation, reason, messages))
		out.Parents = append(out.Parents, s)
	}
	return out
}

// resolved reports whether all backends of a route exist.
func resolved(route *gwv1.HTTPRoute, service func(namespace, name string, port int32) error) (gwv1.RouteConditionReason, string) {
	reason := gwv1.RouteReasonResolvedRefs
	var messages []string
	for _, r := range route.Spec.Rules {
		for _, b := range r.BackendRefs {
			routeReason := invalidReason(b.BackendRef, route.Namespace)
			message := fmt.Sprintf("backend %s: %s", b.Name, routeReason)
			if routeReason == "" {
				err := service(route.Namespace, string(b.Name), *b.Port)
				if err == nil {
					continue
				}
				routeReason, message = gwv1.RouteReasonBackendNotFound, err.Error()
			}
			if len(messages) == 0 {
				reason = routeReason
			}
			messages = append(messages, message)
		}
	}
	return reason, strings.Join(messages, "; ")
}

// same reports whether two references are to the same listener.
func same(a, b gwv1.ParentReference) bool {
	return a.Name == b.Name && value(a.Namespace) == value(b.Namespace) && value(a.SectionName) == value(b.SectionName) && value(a.Port) == value(b.Port) &&
		value(a.Group) == value(b.Group) && value(a.Kind) == value(b.Kind)
}

func value[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}
