package gateway

import (
	"slices"

	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// attach returns the listeners of a Gateway that a route's reference attaches to. If it returns
// none, it returns the reason.
func attach(gw *gwv1.Gateway, route *gwv1.HTTPRoute, ref gwv1.ParentReference) ([]gwv1.Listener, gwv1.RouteConditionReason) {
	named, allowed := 0, 0
	var out []gwv1.Listener
	for _, l := range gw.Spec.Listeners {
		if ref.SectionName != nil && *ref.SectionName != l.Name || ref.Port != nil && *ref.Port != l.Port {
			continue
		}
		named++
		if !serves(l) || !allows(l, gw.Namespace == route.Namespace) {
			continue
		}
		allowed++
		if len(meet(l.Hostname, route.Spec.Hostnames)) > 0 {
			out = append(out, l)
		}
	}
	switch {
	case named == 0:
		return nil, gwv1.RouteReasonNoMatchingParent
	case allowed == 0:
		return nil, gwv1.RouteReasonNotAllowedByListeners
	case len(out) == 0:
		return nil, gwv1.RouteReasonNoMatchingListenerHostname
	case unsupported(route) != "":
		return nil, gwv1.RouteReasonUnsupportedValue
	}
	return out, gwv1.RouteReasonAccepted
}

// serves reports whether the protocol is supported: plain HTTP only.
func serves(l gwv1.Listener) bool { return l.Protocol == gwv1.HTTPProtocolType && l.TLS == nil }

// allows reports whether a listener accepts HTTPRoutes of a namespace: its own, or all. Namespace
// labels are not evaluated, so a selector accepts none.
func allows(l gwv1.Listener, own bool) bool {
	if l.AllowedRoutes == nil {
		return own
	}
	kinds := len(l.AllowedRoutes.Kinds) == 0
	for _, k := range l.AllowedRoutes.Kinds {
		kinds = kinds || isHTTPRoute(k)
	}
	from := gwv1.NamespacesFromSame
	if n := l.AllowedRoutes.Namespaces; n != nil && n.From != nil {
		from = *n.From
	}
	return kinds && (from == gwv1.NamespacesFromAll || from == gwv1.NamespacesFromSame && own)
}

func isHTTPRoute(k gwv1.RouteGroupKind) bool {
	return (k.Group == nil || *k.Group == gwv1.GroupName) && k.Kind == "HTTPRoute"
}

// unsupported returns the unsupported features of a route; empty: none.
func unsupported(route *gwv1.HTTPRoute) string {
	for _, r := range route.Spec.Rules {
		if len(r.Filters) > 0 {
			return "filters"
		}
		for _, b := range r.BackendRefs {
			if len(b.Filters) > 0 {
				return "filters"
			}
		}
		if r.Timeouts != nil || r.Retry != nil || r.SessionPersistence != nil {
			return "timeouts, retries and session persistence"
		}
		if slices.ContainsFunc(r.Matches, hasExpression) {
			return "regular expressions"
		}
	}
	return ""
}

func hasExpression(m gwv1.HTTPRouteMatch) bool {
	if m.Path != nil && m.Path.Type != nil && *m.Path.Type == gwv1.PathMatchRegularExpression {
		return true
	}
	for _, h := range m.Headers {
		if h.Type != nil && *h.Type == gwv1.HeaderMatchRegularExpression {
			return true
		}
	}
	for _, q := range m.QueryParams {
		if q.Type != nil && *q.Type == gwv1.QueryParamMatchRegularExpression {
			return true
		}
	}
	return false
}
