// Package efa is gate 2 of hosts with Elastic Fabric Adapters: as many active adapters as the instance
// type has, one driver and one libfabric on all hosts, an endpoint of libfabric for each adapter, and no
// growing error counter over a soak. Switches and links belong to the cloud.
package efa

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/efa"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Name of the gate: that of every kind of fabric.
const Name = "fabric"

// The kinds of observations, each with a host as its target.
const (
	kindDevices   = "rdma devices"
	kindDriver    = "efa driver"
	kindEndpoints = "fi_info"
	kindCounters  = "counters"
)

// Gate is gate 2 of hosts with EFA.
type Gate struct {
	site    *site.Site
	profile *profile.Profile
	deps    onhost.Deps
}

var _ plan.Lowers = (*Gate)(nil)

// New returns the gate.
func New(s *site.Site, p *profile.Profile, deps onhost.Deps) *Gate {
	return &Gate{site: s, profile: p, deps: deps.WithDefaults()}
}

// Name implements check.Check.
func (g *Gate) Name() string { return Name }

// Excluding implements plan.Excluding.
func (g *Gate) Excluding(nodes []string) check.Check {
	return New(g.site.Without(nodes), g.profile, g.deps)
}

// Nodes implements plan.Localising.
func (g *Gate) Nodes() []string { return g.site.NodeNames() }

// Lowered implements plan.Lowers.
func (g *Gate) Lowered() []string { return g.site.LoweredFabric() }

// Describe lists the commands of Observe.
func (g *Gate) Describe() []string {
	return []string{
		fmt.Sprintf("on %d hosts, %d at a time, none as root:", len(g.site.Inventory.Nodes), g.site.Reach.SSH.Concurrency),
		"state of each RDMA device in /sys/class/infiniband (grep); cat " + driverFile,
		fiInfo + " -p efa -t FI_EP_RDM",
		fmt.Sprintf("hw_counters of each RDMA device, again after a soak of %s", g.site.Fabric.Soak.D()),
	}
}

const (
	driverFile = "/sys/module/efa/version"
	// fiInfo is where the EFA installer of AWS puts the program: it is not in the PATH.
	fiInfo = "/opt/amazon/efa/bin/fi_info"
)

// command is a command on a host.
type command struct {
	argv  []string
	parse onhost.Parser
}

// commands of the gate, by the kind of their observations.
func commands() map[string]command {
	grep := func(files ...string) []string {
		all := " " + efa.SysfsRoot + "*/"
		return []string{"sh", "-c", "grep -Hs ." + all + strings.Join(files, all)}
	}
	return map[string]command{
		kindDevices: {grep("ports/1/state"), func(out ssh.Output) (any, error) { return efa.ParseDevices(out.Stdout) }},
		kindDriver:  {[]string{"cat", driverFile}, driver},
		kindEndpoints: {[]string{fiInfo, "-p", efa.Provider, "-t", efa.Reliable}, func(out ssh.Output) (any, error) {
			endpoints, err := efa.ParseEndpoints(out.Stdout)
			if err == nil && out.Exit != 0 {
				err = fmt.Errorf("output may be incomplete: exit code %d", out.Exit)
			}
			return endpoints, err
		}},
		kindCounters: {grep("ports/1/hw_counters/*"), func(out ssh.Output) (any, error) { return efa.ParseCounters(out.Stdout) }},
	}
}

// HostCommands are the commands of Observe, for a preflight.
func (g *Gate) HostCommands() []hostcommand.Command {
	var out []hostcommand.Command
	all := commands()
	for _, kind := range []string{kindDevices, kindDriver, kindEndpoints, kindCounters} {
		c := all[kind]
		h := hostcommand.Command{Gate: Name, Hosts: g.site.NodeNames(), Argv: c.argv, Modules: []string{"efa"}, Read: func(out ssh.Output) (string, error) {
			_, err := c.parse(out)
			return "", err
		}}
		if kind == kindEndpoints {
			h.Remedy = "install the EFA software of AWS on the host (aws-efa-installer)"
		}
		out = append(out, h)
	}
	return out
}
