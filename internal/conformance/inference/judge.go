package inference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/dra/conclude"
)

// parts are the class, the servers, the Gateway, two routes, the way to the gateway,
// four kinds of requests, and the calls by which all that was seen.
const parts = 11

// judge is one judgement under way.
type judge struct {
	*Check
	conclude.Conclusions
	obs []check.Observation
	// said is what was shown, for the reason.
	said []string
}

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if c.unreadable != nil {
		return check.NotObserved(c.unreadable.Error())
	}
	j := &judge{Check: c, obs: obs}
	if used, ok := j.classes(); ok {
		up := j.servers()
		programmed := j.gateway(used)
		j.route(routeSplit, true)
		j.route(routeEmpty, false)
		if up && programmed && j.way() {
			j.weights()
			j.header()
			j.nowhere()
			j.noRoute()
		}
	}
	if o, made, ok := conclude.Only[[]calls.Call](&j.Conclusions, obs, calls.Kind, ""); ok && len(made) == 0 {
		j.Missing(o, "calls", "no call to the API server was recorded", again)
	} else if ok {
		j.Shown()
	}
	return j.Judgement(parts, strings.Join(j.said, "; "))
}

const again = "run the check again"

func (j *judge) say(format string, args ...any) {
	j.said = append(j.said, fmt.Sprintf(format, args...))
}

// classes says which class was tried.
func (j *judge) classes() (class, bool) {
	o, seen, ok := conclude.Only[classes](&j.Conclusions, j.obs, kindClasses, "")
	if !ok {
		return class{}, false
	}
	const install = "install an implementation of the Gateway API (Envoy Gateway, Istio, kgateway, NGINX Gateway Fabric, Cilium, the provider's own), with its GatewayClass"
	switch {
	case !seen.Served:
		j.Fail(o, "Gateway API", fmt.Sprintf("the API server does not serve gatewayclasses of %s/%s", group, version), "install the definitions of the Gateway API's standard channel; then "+install)
		return class{}, false
	case len(seen.Classes) == 0:
		j.Fail(o, "GatewayClass", fmt.Sprintf("there is none (looked for gatewayclasses of %s/%s): nothing implements the Gateway API here", group, version), install)
		return class{}, false
	}
	i := slices.IndexFunc(seen.Classes, func(k class) bool { return k.Name == seen.Used && k.accepted() })
	if i < 0 {
		for _, k := range seen.Classes {
			j.Fail(o, "GatewayClass "+k.Name, "its controller "+k.Controller+" does not accept it: "+k.Conditions.of("Accepted").text(k.Generation), "see that the controller runs, and what its log says")
		}
		return class{}, false
	}
	j.Shown()
	j.say("GatewayClass %s of %s", seen.Classes[i].Name, seen.Classes[i].Controller)
	return seen.Classes[i], true
}

// servers says that both run and are who they are meant to be.
func (j *judge) servers() bool {
	_, where, haveRoom := conclude.Only[room](&j.Conclusions, j.obs, kindRoom, "")
	o, seen, ok := conclude.Only[[]server](&j.Conclusions, j.obs, kindServers, "")
	if !ok || !haveRoom {
		return false
	}
	up := 0
	for i, name := range serverNames() {
		switch {
		case i >= len(seen) || seen[i].Serves != served(name):
			j.Missing(o, "pod "+name, "it was not seen", again)
		case !seen[i].up():
			j.Missing(o, "pod "+seen[i].Pod, "the server that requests are to go to did not come up, so nothing is known of the gateway: "+seen[i].trouble(),
				"see that image and model can be had on the inventory's nodes, and what kubectl describe pod says")
		default:
			up++
		}
	}
	if len(seen) != servers || up != servers {
		if len(seen) > servers {
			j.Missing(o, "pods", fmt.Sprintf("%d servers were seen, not %d", len(seen), servers), again)
		}
		return false
	}
	j.Shown()
	if where.StandIns {
		j.say("scripts took the place of model servers (%s)", where.Why)
	} else {
		j.say("%d servers of %s with a GPU each", servers, j.figures.Model)
	}
	return true
}

func (s server) trouble() string {
	switch {
	case !s.Ready:
		return "it is not ready: " + s.State
	case s.Direct.Status == 0:
		return "asked directly it does not answer: " + s.Direct.Err
	case s.Direct.Status != 200:
		return fmt.Sprintf("asked directly it answers %d", s.Direct.Status)
	}
	return fmt.Sprintf("it says that it serves %q and not %q", s.Direct.Model, s.Serves)
}

func (j *judge) gateway(of class) bool {
	o, seen, ok := conclude.Only[gateway](&j.Conclusions, j.obs, kindGateway, "")
	switch {
	case !ok:
		return false
	case seen.Class != of.Name || seen.UID == "":
		j.Missing(o, "gateway "+seen.Name, "it is of class "+seen.Class+", not "+of.Name, again)
		return false
	case seen.wrong() != "":
		j.Fail(o, "gateway "+seen.Name, seen.wrong(), "see what the log of "+of.Controller+" says of it; for an address, that load balancers can be made here")
		return false
	}
	j.Shown()
	j.say("Gateway programmed at %s", strings.Join(seen.Addresses, ", "))
	return true
}

// route holds what a route's status says against what it leads to.
func (j *judge) route(name string, resolved bool) {
	want := []string{second, first}
	if !resolved {
		want = []string{nobody}
	}
	o, seen, ok := conclude.Only[route](&j.Conclusions, j.obs, kindRoute, name)
	switch {
	case !ok:
	case !slices.Equal(seen.Backends, want) || seen.UID == "":
		j.Missing(o, "httproute "+seen.Name, fmt.Sprintf("it leads to %v, not %v", seen.Backends, want), again)
	case seen.wrong(resolved) != "":
		j.Fail(o, "httproute "+seen.Name, seen.wrong(resolved), "see that the gateway's controller runs, and what its log says of the route")
	default:
		j.Shown()
	}
}

func (j *judge) way() bool {
	o, seen, ok := conclude.Only[way](&j.Conclusions, j.obs, kindWay, "")
	if !ok {
		return false
	}
	if seen.Through == "" {
		j.Missing(o, "gateway", "it is programmed, and no request reaches it from here: "+strings.Join(seen.Tried, "; "),
			"run firstlight where the gateway's address can be reached, or allow port forwards to its pods")
		return false
	}
	j.Shown()
	return true
}
