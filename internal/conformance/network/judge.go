package network

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/giving"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return check.NotObserved("the site's inventory has no nodes")
	}
	var a standing.Account
	have, id, ok := standing.Read[offered](&a, obs, kindOffer)
	if !ok {
		return a.Judgement()
	}
	if len(have.Nodes) == 0 {
		a.Unseen(id, "nodes", "none of the inventory's is there", "correct the site's inventory")
		return a.Judgement()
	}
	driver, on := have.driver()
	resource, nodes, _ := have.resource()
	c.judgeDescribed(&a, id, have, driver, on)
	switch {
	case driver != "" && have.Classes[driver] != "":
		judgeClaimed(&a, obs, driver)
	case driver != "":
		a.Lacks(id, "DeviceClass", "none selects devices of "+driver+": no claim can ask for one", "create a DeviceClass for it")
	case resource != "":
		if len(nodes) < len(c.nodes) {
			a.Lacks(id, "nodes", fmt.Sprintf("%d of %d have %s: %s", len(nodes), len(c.nodes), resource, strings.Join(nodes, ", ")), "see why the device plugin does not offer it on the others")
		}
		if tried, id, ok := standing.Read[giving.Tried](&a, obs, giving.Kind); ok {
			tried.Judge(&a, id)
		}
	default:
		a.Lacks(id, "network devices", fmt.Sprintf("none of %d nodes offers any, through DRA or as a resource", len(have.Nodes)), "install DRANET, or a device plugin for the nodes' RDMA devices")
	}
	return a.Judgement()
}

// judgeDescribed: what a device is like can be found out before it is asked for.
func (c *Check) judgeDescribed(a *standing.Account, id string, have offered, driver string, on []string) {
	switch {
	case driver == "":
		a.Lacks(id, "DRA", "no driver of network devices publishes any: what they are like can't be found out, nor asked for", "install a DRA driver for them, such as DRANET; the requirement names it as the mechanism")
	case len(on) < len(c.nodes):
		a.Lacks(id, "DRA", fmt.Sprintf("%s publishes devices of %d of %d nodes: %s", driver, len(on), len(c.nodes), strings.Join(on, ", ")), "run the driver on every node of the fabric")
	default:
		names := have.Nodes[0].Attributes[driver]
		a.Has("%s publishes the devices of all %d nodes with %d attributes (%s)", driver, len(on), len(names), strings.Join(names[:min(len(names), mostAttributes)], ", "))
	}
}

// mostAttributes bounds how many are named.
const mostAttributes = 6

// judgeClaimed: a pod was given one by a claim.
func judgeClaimed(a *standing.Account, obs []check.Observation, driver string) {
	s, id, ok := standing.Read[trial.Seen](a, obs, kindClaimed)
	if !ok {
		return
	}
	switch {
	case strings.Contains(s.State(), "ImagePull"):
		a.Unseen(id, "pod "+s.Pod, "its image could not be pulled: "+s.State(), "set telemetry.loadImage in the site file to an image that the nodes can pull")
	case s.Refused():
		a.Unseen(id, "pod "+s.Pod, "its claim was not allocated: "+s.State(), "run the check when a device is free")
	case !s.Runs() || s.Claim == nil || !s.Claim.Allocated || len(s.Claim.Devices) != 1 || s.Claim.Devices[0].Driver != driver:
		a.Lacks(id, "pod "+s.Pod, "it claims a device of "+driver+", and does not run with one: "+s.State(), "look at the events of the pod and at the log of the driver's kubelet plugin")
	default:
		a.Has("a pod ran on %s with %s, by a claim", s.Node, s.Claim.Devices[0].Device)
	}
}
