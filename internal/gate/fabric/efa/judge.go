package efa

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/efa"
)

const (
	remedySSH     = "make the host reachable and its tools runnable, then run again: firstlight accept --from fabric"
	remedyDevice  = "look at the instance (lspci -d 1d0f:, dmesg | grep efa) and at the EFA interfaces of its launch template; replace an instance that lacks one; then run again: firstlight accept --from fabric"
	remedyVersion = "install one version of the EFA software on all hosts (aws-efa-installer) and reboot, then run again: firstlight accept --from fabric"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	b := &check.Builder{}
	want := int(g.profile.Node.HCAs.Value)
	if len(g.site.Inventory.Nodes) == 0 || want == 0 || len(g.profile.Fabric.CounterLimits) == 0 {
		b.Unobserved("", "site fabric", "declare inventory.nodes, and use a profile with node.hcas and fabric.counterLimits", "the site declares no hosts, or profile %s no adapters or limits", g.profile.Name)
		return b.Judgement("")
	}
	active := 0
	var drivers, libraries []uniform.Sample
	for _, n := range g.site.Inventory.Nodes {
		devices, o, ok := check.Require[[]efa.Device](b, obs, kindDevices, n.Name, n.Name, remedySSH)
		if ok {
			active += judgeDevices(b, o, n.Name, devices, want)
		}
		if d, o, ok := check.Require[driverFigures](b, obs, kindDriver, n.Name, n.Name, remedyVersion); ok {
			drivers = append(drivers, uniform.Sample{Adapter: n.Name, Value: d.Version, Observation: o})
		}
		if all, o, found := check.Require[[]efa.Endpoint](b, obs, kindEndpoints, n.Name, n.Name, remedyVersion); found {
			libraries = append(libraries, judgeEndpoints(b, o, n.Name, all, devices, ok)...)
		}
	}
	uniform.Require(b, drivers, "EFA driver", "hosts", remedyVersion)
	uniform.Require(b, libraries, "the provider efa of libfabric in version", "hosts", remedyVersion)
	expected := float64(want * len(g.site.Inventory.Nodes))
	b.Figure(check.Figure{Name: "adapters active", Value: float64(active), Unit: "adapters", Limit: expected, Relation: "==", Source: "site inventory x profile node.hcas"})
	g.judgeCounters(b, obs, expected)
	b.MergeSuspects()
	return b.Judgement(fmt.Sprintf("%g EFA adapters active, each with an endpoint of %s, one driver and one libfabric, counters within their limits over %s", expected, efa.Protocol, g.site.Fabric.Soak.D()))
}

// judgeDevices compares the adapters of a host with the profile, and returns how many are active.
func judgeDevices(b *check.Builder, o check.Observation, host string, devices []efa.Device, want int) int {
	if len(devices) != want {
		b.Fail(o.ID, host, remedyDevice, "%s has %d EFA adapters, the instance type has %d", host, len(devices), want)
	}
	active := 0
	for _, d := range devices {
		name := host + "/" + d.Name
		switch {
		case d.State == "":
			b.Unobserved(o.ID, name, remedyDevice, "%s shows no state", name)
		case d.State != efa.StateActive:
			b.Fail(o.ID, name, remedyDevice, "%s is %s, want %s", name, d.State, efa.StateActive)
		default:
			active++
		}
	}
	return active
}

// judgeEndpoints requires an endpoint of reliable datagrams for each adapter, and returns the version of
// the provider.
func judgeEndpoints(b *check.Builder, o check.Observation, host string, all []efa.Endpoint, devices []efa.Device, known bool) []uniform.Sample {
	usable := slices.DeleteFunc(slices.Clone(all), func(e efa.Endpoint) bool {
		return e.Provider != efa.Provider || e.Type != efa.Reliable || e.Protocol != efa.Protocol
	})
	for _, d := range devices {
		if known && !slices.ContainsFunc(usable, func(e efa.Endpoint) bool { return strings.TrimSuffix(e.Domain, "-rdm") == d.Name }) {
			b.Fail(o.ID, host+"/"+d.Name, remedyVersion, "fi_info shows no endpoint of provider %s, type %s and protocol %s for %s/%s", efa.Provider, efa.Reliable, efa.Protocol, host, d.Name)
		}
	}
	var versions []string
	for _, e := range usable {
		if !slices.Contains(versions, e.Version) {
			versions = append(versions, e.Version)
		}
	}
	slices.Sort(versions)
	return []uniform.Sample{{Adapter: host, Value: strings.Join(versions, ", "), Observation: o}}
}
