package gateway

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	gwv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// table has the matches of one port of a Gateway, best match first.
type table []entry

// tables returns the tables of a Gateway's ports for the attached routes. rules are the previous
// ones by key; an unchanged rule keeps its position in the round robin.
func tables(gw *gwv1.Gateway, attached []attachment, rules map[string]*rule) (map[int32]table, map[string]*rule) {
	out, now := map[int32]table{}, map[string]*rule{}
	for _, l := range gw.Spec.Listeners {
		if serves(l) {
			out[l.Port] = nil
		}
	}
	for _, a := range attached {
		for i, r := range a.route.Spec.Rules {
			key := fmt.Sprintf("%s/%d/%d", a.route.UID, a.route.Generation, i)
			if now[key] == nil {
				if now[key] = rules[key]; now[key] == nil {
					now[key] = ruleOf(key, a.route.Namespace, r.BackendRefs)
				}
			}
			for _, l := range a.listeners {
				out[l.Port] = append(out[l.Port], entriesOf(a.route, meet(l.Hostname, a.route.Spec.Hostnames), r.Matches, now[key])...)
			}
		}
	}
	for _, t := range out {
		order(t)
	}
	return out, now
}

// attachment is a route that a reference attaches to listeners of a Gateway.
type attachment struct {
	route     *gwv1.HTTPRoute
	listeners []gwv1.Listener
}

// routed counts the distinct routes of each listener.
func routed(attached []attachment) map[gwv1.SectionName]int32 {
	counted := map[gwv1.SectionName][]types.UID{}
	for _, a := range attached {
		for _, l := range a.listeners {
			if !slices.Contains(counted[l.Name], a.route.UID) {
				counted[l.Name] = append(counted[l.Name], a.route.UID)
			}
		}
	}
	out := map[gwv1.SectionName]int32{}
	for name, routes := range counted {
		out[name] = int32(len(routes)) //nolint:gosec // few
	}
	return out
}
