package gateway

import (
	"errors"
	"testing"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func aGateway(listeners ...gwv1.Listener) *gwv1.Gateway {
	return &gwv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "gw", Generation: 7},
		Spec:       gwv1.GatewaySpec{GatewayClassName: "world", Listeners: listeners},
	}
}

func plain(name string, port int32) gwv1.Listener {
	return gwv1.Listener{Name: gwv1.SectionName(name), Port: port, Protocol: gwv1.HTTPProtocolType}
}

func aRoute(spoil func(*gwv1.HTTPRoute)) *gwv1.HTTPRoute {
	r := &gwv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r", UID: "r", Generation: 3},
		Spec: gwv1.HTTPRouteSpec{
			CommonRouteSpec: gwv1.CommonRouteSpec{ParentRefs: []gwv1.ParentReference{{Name: "gw"}}},
			Rules:           []gwv1.HTTPRouteRule{{BackendRefs: []gwv1.HTTPBackendRef{reference("a", 1)}}},
		},
	}
	if spoil != nil {
		spoil(r)
	}
	return r
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil    func(*gwv1.HTTPRoute)
		accepted gwv1.RouteConditionReason
		resolved gwv1.RouteConditionReason
	}{
		"right":           {nil, gwv1.RouteReasonAccepted, gwv1.RouteReasonResolvedRefs},
		"unknown service": {func(r *gwv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Name = "missing" }, gwv1.RouteReasonAccepted, gwv1.RouteReasonBackendNotFound},
		"no port":         {func(r *gwv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Port = nil }, gwv1.RouteReasonAccepted, gwv1.RouteReasonBackendNotFound},
		"another kind": {func(r *gwv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Kind = new(gwv1.Kind("InferencePool")) },
			gwv1.RouteReasonAccepted, gwv1.RouteReasonInvalidKind},
		"another namespace": {func(r *gwv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Namespace = new(gwv1.Namespace("other")) },
			gwv1.RouteReasonAccepted, gwv1.RouteReasonRefNotPermitted},
		"no such listener": {func(r *gwv1.HTTPRoute) { r.Spec.ParentRefs[0].SectionName = new(gwv1.SectionName("other")) },
			gwv1.RouteReasonNoMatchingParent, gwv1.RouteReasonResolvedRefs},
		"of another namespace": {func(r *gwv1.HTTPRoute) {
			r.Namespace, r.Spec.ParentRefs[0].Namespace = "other", new(gwv1.Namespace("ns"))
		}, gwv1.RouteReasonNotAllowedByListeners, gwv1.RouteReasonResolvedRefs},
		"no host in common": {func(r *gwv1.HTTPRoute) { r.Spec.Hostnames = []gwv1.Hostname{"b.example"} },
			gwv1.RouteReasonNoMatchingListenerHostname, gwv1.RouteReasonResolvedRefs},
		"a filter": {func(r *gwv1.HTTPRoute) {
			r.Spec.Rules[0].Filters = []gwv1.HTTPRouteFilter{{Type: gwv1.HTTPRouteFilterRequestRedirect}}
		}, gwv1.RouteReasonUnsupportedValue, gwv1.RouteReasonResolvedRefs},
		"an expression": {func(r *gwv1.HTTPRoute) {
			r.Spec.Rules[0].Matches = []gwv1.HTTPRouteMatch{{Headers: []gwv1.HTTPHeaderMatch{{Type: new(gwv1.HeaderMatchRegularExpression), Name: "X", Value: ".*"}}}}
		}, gwv1.RouteReasonUnsupportedValue, gwv1.RouteReasonResolvedRefs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := plain("http", 80)
			l.Hostname = new(gwv1.Hostname("a.example"))
			gw, route := aGateway(l), aRoute(tt.spoil)
			_, reason := attach(gw, route, route.Spec.ParentRefs[0])
			route.Status.Parents = []gwv1.RouteParentStatus{{ControllerName: "somebody.else/gateway"}, {ControllerName: ControllerName, ParentRef: gwv1.ParentReference{Name: "gone"}}}
			got := routeStatus(route, []parent{{ref: route.Spec.ParentRefs[0], reason: reason}}, func(_, name string, _ int32) error {
				if name != "a" {
					return errors.New("not there")
				}
				return nil
			})
			if len(got.Parents) != 2 || got.Parents[0].ControllerName != "somebody.else/gateway" {
				t.Fatalf("%+v", got.Parents)
			}
			for kind, want := range map[gwv1.RouteConditionType]gwv1.RouteConditionReason{gwv1.RouteConditionAccepted: tt.accepted, gwv1.RouteConditionResolvedRefs: tt.resolved} {
				c := meta.FindStatusCondition(got.Parents[1].Conditions, string(kind))
				right := want == gwv1.RouteReasonAccepted || want == gwv1.RouteReasonResolvedRefs
				if c == nil || c.Reason != string(want) || (c.Status == metav1.ConditionTrue) != right || c.ObservedGeneration != 3 {
					t.Errorf("%s: %+v, want %s", kind, c, want)
				}
			}
		})
	}
}

func TestGatewayStatus(t *testing.T) {
	t.Parallel()
	tls := plain("https", 443)
	tls.Protocol = gwv1.HTTPSProtocolType
	gw := aGateway(plain("http", 80), tls)
	route := aRoute(func(r *gwv1.HTTPRoute) {
		r.Spec.ParentRefs = append(r.Spec.ParentRefs, gwv1.ParentReference{Name: "gw", Port: new(int32(80))})
	})
	parents := map[types.UID][]parent{}
	attached := attachAll(gw, []*gwv1.HTTPRoute{route}, parents)
	if len(attached) != 2 || len(parents["r"]) != 2 {
		t.Fatalf("%+v %+v", attached, parents)
	}
	up := gatewayStatus(gw, programmed{host: "127.1.2.253", reason: gwv1.GatewayReasonProgrammed}, attached)
	if len(up.Addresses) != 1 || up.Addresses[0].Value != "127.1.2.253" || !meta.IsStatusConditionTrue(up.Conditions, "Programmed") {
		t.Errorf("%+v", up)
	}
	if l := up.Listeners[0]; l.AttachedRoutes != 1 || len(l.SupportedKinds) != 1 || !meta.IsStatusConditionTrue(l.Conditions, "Programmed") {
		t.Errorf("a route that is attached twice: %+v", l)
	}
	if l := up.Listeners[1]; l.AttachedRoutes != 0 || len(l.SupportedKinds) != 0 || !meta.IsStatusConditionFalse(l.Conditions, "Accepted") {
		t.Errorf("a listener that is not served: %+v", l)
	}
	gw.Status = up
	down := gatewayStatus(gw, programmed{reason: gwv1.GatewayReasonAddressNotAssigned, message: "none"}, attached)
	if len(down.Addresses) != 0 || !meta.IsStatusConditionFalse(down.Conditions, "Programmed") || !meta.IsStatusConditionFalse(down.Listeners[0].Conditions, "Programmed") {
		t.Errorf("%+v", down)
	}
	if again := gatewayStatus(gw, programmed{host: "127.1.2.253", reason: gwv1.GatewayReasonProgrammed}, attached); !apiequality.Semantic.DeepEqual(again, up) {
		t.Errorf("a second sync changes the status: %+v", again)
	}
	alone := gatewayStatus(aGateway(tls), programmed{reason: gwv1.GatewayReasonInvalid}, nil)
	if !meta.IsStatusConditionFalse(alone.Conditions, "Accepted") {
		t.Errorf("%+v", alone.Conditions)
	}
}

// A rule keeps its round-robin position while its route does not change.
func TestRulesStay(t *testing.T) {
	t.Parallel()
	gw, route := aGateway(plain("http", 80)), aRoute(nil)
	build := func(before map[string]*rule) (map[int32]table, map[string]*rule) {
		return tables(gw, attachAll(gw, []*gwv1.HTTPRoute{route}, map[types.UID][]parent{}), before)
	}
	served, rules := build(nil)
	if len(served[80]) != 1 {
		t.Fatalf("%+v", served)
	}
	again, rules := build(rules)
	if again[80][0].rule != served[80][0].rule {
		t.Error("an unchanged rule restarts its round robin")
	}
	route.Generation++
	if changed, _ := build(rules); changed[80][0].rule == served[80][0].rule {
		t.Error("a route that changed keeps its rule")
	}
}
