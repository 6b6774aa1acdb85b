package inference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
)

// parts: the class, the servers, the Gateway, two routes, the path to the gateway, four kinds
// of requests, and the API calls.
const parts = 11

const again = "run the check again"

// judge is Parts with the observations.
type judge struct {
	*Check
	conformance.Parts
	obs []check.Observation
	// reason lists what was shown.
	reason []string
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if c.invalid != nil {
		return check.NotObserved(c.invalid.Error())
	}
	j := &judge{Check: c, obs: obs}
	if used, ok := j.classes(); ok {
		up := j.servers()
		programmed := j.gateway(used)
		j.route(routeSplit, true)
		j.route(routeEmpty, false)
		if up && programmed && j.path() {
			j.weights()
			j.header()
			j.all(toNowhere, "httproute "+routeEmpty, "a route to a Service that does not exist must return a server error (500 or more)", "a route to a missing Service returns errors")
			j.all(toNoRoute, "gateway "+gatewayName, "a path without a route must return 404", "a path without a route returns 404")
		}
	}
	if calls, id, ok := require[[]apilog.Call](j, apilog.Kind, ""); ok && len(calls) == 0 {
		j.Unobserved(id, "calls", again, "no call to the API server was recorded")
	} else if ok {
		j.Shown()
	}
	return j.Judgement(parts, strings.Join(j.reason, "; "))
}

func require[T any](j *judge, kind, target string) (T, string, bool) {
	return conformance.Require[T](&j.Builder, j.obs, kind, target)
}

// shown counts a part, and adds a phrase to the reason.
func (j *judge) shown(format string, args ...any) {
	j.Shown()
	j.reason = append(j.reason, fmt.Sprintf(format, args...))
}

// classes returns the class under test.
func (j *judge) classes() (class, bool) {
	all, id, ok := require[classes](j, kindClasses, "")
	if !ok {
		return class{}, false
	}
	const install = "install an implementation of the Gateway API (Envoy Gateway, Istio, kgateway, NGINX Gateway Fabric, Cilium, the provider's own), with its GatewayClass"
	switch {
	case !all.Served:
		j.Fail(id, "Gateway API", "install the definitions of the Gateway API's standard channel; then "+install, "the API server does not serve gatewayclasses of %s/%s", group, version)
		return class{}, false
	case len(all.Classes) == 0:
		j.Fail(id, "GatewayClass", install, "no gatewayclasses of %s/%s found: nothing implements the Gateway API", group, version)
		return class{}, false
	}
	i := slices.IndexFunc(all.Classes, func(k class) bool { return k.Name == all.Used && k.accepted() })
	if i < 0 {
		if accepted := all.accepted(); all.Wanted == "" && all.Used == "" && len(accepted) > 1 {
			j.Unobserved(id, "GatewayClass", "name one in the site's validation.gatewayClass: one that implements gateways of any name, not reachable from the internet, since the servers have no authentication",
				"several are accepted: %s", strings.Join(accepted, ", "))
			return class{}, false
		}
		if all.Wanted != "" && !slices.ContainsFunc(all.Classes, func(k class) bool { return k.Name == all.Wanted }) {
			j.Unobserved(id, "GatewayClass "+all.Wanted, "correct the site's validation.gatewayClass", "not found: the site's validation.gatewayClass names it")
			return class{}, false
		}
		for _, k := range all.Classes {
			if all.Wanted != "" && k.Name != all.Wanted {
				continue
			}
			j.Fail(id, "GatewayClass "+k.Name, "see that the controller runs, and its log", "its controller %s does not accept it: %s", k.Controller, k.Conditions.of("Accepted").text(k.Generation))
		}
		return class{}, false
	}
	j.shown("GatewayClass %s of %s", all.Classes[i].Name, all.Classes[i].Controller)
	return all.Classes[i], true
}

// servers reports whether both run and serve their models.
func (j *judge) servers() bool {
	where, _, placed := require[placement](j, kindFree, "")
	all, id, ok := require[[]server](j, kindServers, "")
	if !ok || !placed {
		return false
	}
	up := 0
	for i, name := range serverNames() {
		switch {
		case i >= len(all) || all[i].Serves != served(name):
			j.Unobserved(id, "pod "+name, again, "was not observed")
		case !all[i].up():
			j.Unobserved(id, "pod "+all[i].Pod, "see that the inventory's nodes can pull image and model, and kubectl describe pod", "the server did not start, so requests through the gateway prove nothing: %s", all[i].problem())
		default:
			up++
		}
	}
	if len(all) > servers {
		j.Unobserved(id, "pods", again, "%d servers were observed, want %d", len(all), servers)
	}
	if len(all) != servers || up != servers {
		return false
	}
	if where.Scripts {
		j.shown("scripts replaced the model servers (%s)", where.Why)
	} else {
		j.shown("%d servers of %s with a GPU each", servers, j.figures.Model)
	}
	return true
}

func (s server) problem() string {
	switch {
	case !s.Ready:
		return "it is not ready: " + s.State
	case s.Direct.Status == 0:
		return "a direct request failed: " + s.Direct.Err
	case s.Direct.Status != 200:
		return fmt.Sprintf("a direct request returned %d", s.Direct.Status)
	}
	return fmt.Sprintf("it serves %q, want %q", s.Direct.Model, s.Serves)
}

func (j *judge) gateway(of class) bool {
	g, id, ok := require[gateway](j, kindGateway, "")
	switch {
	case !ok:
		return false
	case g.Class != of.Name || g.UID == "":
		j.Unobserved(id, "gateway "+g.Name, again, "it is of class %s, want %s", g.Class, of.Name)
		return false
	case g.problem() != "":
		j.Fail(id, "gateway "+g.Name, "see the log of "+of.Controller+"; for an address, see that the cluster can create load balancers", "%s", g.problem())
		return false
	}
	j.shown("Gateway programmed at %s", strings.Join(g.Addresses, ", "))
	return true
}

// route compares a route's status with whether its backends exist.
func (j *judge) route(name string, resolved bool) {
	want := []string{second, first}
	if !resolved {
		want = []string{missingService}
	}
	r, id, ok := require[route](j, kindRoute, name)
	switch {
	case !ok:
	case !slices.Equal(r.Backends, want) || r.UID == "":
		j.Unobserved(id, "httproute "+r.Name, again, "its backends are %v, want %v", r.Backends, want)
	case r.problem(resolved) != "":
		j.Fail(id, "httproute "+r.Name, "see that the gateway's controller runs, and its log about the route", "%s", r.problem(resolved))
	default:
		j.Shown()
	}
}

func (j *judge) path() bool {
	p, id, ok := require[gatewayPath](j, kindPath, "")
	if !ok {
		return false
	}
	if p.Through == "" {
		j.Unobserved(id, "gateway", "run firstlight where the gateway's address is reachable, or allow port-forwards to its pods", "it is programmed, but not reachable from here: %s", strings.Join(p.Tried, "; "))
		return false
	}
	if !p.Settled && p.Rounds < settleRounds {
		j.Unobserved(id, "gateway",
			"see the load of this machine and of the gateway, then run the check again",
			"only %d rounds of requests were sent in the time that it may take to route as its status says: too few to tell a slow gateway from a wrong one",
			p.Rounds)
		return false
	}
	j.Shown()
	return true
}
