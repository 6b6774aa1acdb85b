package recommended

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// maxAttributes limits how many attributes are named.
const maxAttributes = 6

// Judge implements check.Check.
func (c *Network) Judge(obs []check.Observation) check.Judgement {
	if len(c.nodes) == 0 {
		return noInventory()
	}
	var a assessment
	offers, id, ok := require[networkOffers](&a, obs, kindNetworkOffer, "")
	if !ok {
		return a.judgement()
	}
	if len(offers.Nodes) == 0 {
		a.unknown(id, "nodes", "correct the site's inventory", "no node of the inventory was found")
		return a.judgement()
	}
	driver, driverNodes := offers.driver()
	switch {
	case driver == "":
		a.unmet(id, "DRA", "install a DRA driver for network devices, such as DRANET: the requirement names DRA as the mechanism", "no driver publishes network devices, so pods can neither select nor claim them")
	case len(driverNodes) < len(c.nodes):
		a.unmet(id, "DRA", "run the driver on every node of the fabric", "%s publishes devices of %d of %d nodes: %s", driver, len(driverNodes), len(c.nodes), strings.Join(driverNodes, ", "))
	default:
		names := offers.Nodes[0].Attributes[driver]
		a.met("%s publishes the devices of all %d nodes with %d attributes (%s)", driver, len(driverNodes), len(names), strings.Join(names[:min(len(names), maxAttributes)], ", "))
	}
	resource, nodes, _ := offers.resource()
	switch {
	case driver != "" && offers.Classes[driver] != "":
		judgeNetworkClaim(&a, obs, driver)
	case driver != "":
		a.unmet(id, "DeviceClass", "create a DeviceClass for it", "none selects devices of %s: no claim can request one", driver)
	case resource != "":
		if len(nodes) < len(c.nodes) {
			a.unmet(id, "nodes", "see why the device plugin does not offer it on the other nodes", "%d of %d have %s: %s", len(nodes), len(c.nodes), resource, strings.Join(nodes, ", "))
		}
		if allocated, id, ok := require[allocation](&a, obs, kindAllocation, ""); ok {
			allocated.judge(&a, id)
		}
	default:
		a.unmet(id, "network devices", "install DRANET, or a device plugin for the nodes' RDMA devices", "none of %d nodes offers any, through DRA or as a resource", len(offers.Nodes))
	}
	return a.judgement()
}

// judgeNetworkClaim requires that a pod runs with one device of the driver by its claim.
func judgeNetworkClaim(a *assessment, obs []check.Observation, driver string) {
	s, id, ok := require[testpod.Status](a, obs, kindNetworkClaim, "")
	if !ok {
		return
	}
	pod := "pod " + s.Pod
	switch {
	case s.ImagePullFailed():
		a.unknown(id, pod, testpod.ImageRemedy, "cannot pull its image: %s", s.Summary())
	case s.Unschedulable():
		a.unknown(id, pod, "run the check when a device is free", "its claim was not allocated: %s", s.Summary())
	case !s.Running() || s.Claim == nil || !s.Claim.Allocated || len(s.Claim.Devices) != 1 || s.Claim.Devices[0].Driver != driver:
		a.unmet(id, pod, "see the events of the pod and the log of the driver's kubelet plugin", "claims a device of %s but does not run with one: %s", driver, s.Summary())
	default:
		a.met("a pod ran on %s with %s, by a claim", s.Node, s.Claim.Devices[0].Device)
	}
}
