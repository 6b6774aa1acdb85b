package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

const (
	remedySwapped  = "correct the addresses of the site's inventory, so that each node's name leads to its own host, then run the gate again"
	remedyAdapter  = "reseat the adapter or its riser, check the slot and the BIOS settings of the link (lspci -vv: LnkSta against LnkCap); if it trains no better, replace it"
	remedyGovernor = "set the governor on every CPU (cpupower frequency-set -g performance) and in the boot configuration"
	remedyMemory   = "compare dmidecode -t memory and the BMC's log with another node; reseat or replace the DIMMs that are missing"
	remedyClock    = "start the time service of the host (chronyc tracking, timedatectl) and let it reach its servers"
	remedyPages    = "reserve the same huge pages on every node (vm.nr_hugepages or the kernel's command line), then reboot the node"
	remedyTopology = "compare nvidia-smi topo -m and lspci -t with another node: the GPU is in another slot, or the BIOS and the virtual machine show another NUMA layout"
)

// everyNode is the suspect of what is the same on all of them.
const everyNode = "every node"

// judgeHosts judges what hosts say of themselves: each against the profile and the site,
// then all against each other.
func (g *Gate) judgeHosts(b *check.Builder, hosts []*host, at slots) {
	var told []*host
	for _, h := range hosts {
		if h.facts.ok() {
			told = append(told, h) // of the others judgeUnobserved has said so
		}
	}
	g.judgeNames(b, told)
	g.judgeAdapters(b, told)
	g.judgeGovernors(b, told)
	g.judgeHostMemory(b, told)
	judgeHugePages(b, told)
	g.judgeHostClocks(b, told)
	g.judgeTopology(b, told, at)
}

// judgeNames: a host with the name of another node is that node. A name that no node of
// the site has says something only where most hosts have their own: a site may call its
// nodes otherwise than their hosts.
func (g *Gate) judgeNames(b *check.Builder, hosts []*host) {
	nodes := map[string]bool{}
	for _, n := range slices.Concat(g.site.Inventory.Nodes, g.site.Inventory.SystemNodes) {
		nodes[short(n.Name)] = true
	}
	own := 0
	for _, h := range hosts {
		if short(h.facts.fig.Host.Name) == short(h.name) {
			own++
		}
	}
	for _, h := range hosts {
		is := h.facts.fig.Host.Name
		switch {
		case is == "":
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not say its name (uname -n)")
		case short(is) == short(h.name):
		case nodes[short(is)] || 2*own > len(hosts):
			b.Fail(h.facts.obs.ID, h.name, remedySwapped, "the host at its address says that it is %s", is)
		}
	}
}

// short is a host's name without its domain.
func short(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return name
}

// judgeAdapters: the PCIe link of every adapter of the compute fabric runs as fast and as
// wide as the adapter can. Where no host knows its links (virtual functions) that is noted,
// and so is one below that in a slot which carries the port's rate, as on most hosts.
func (g *Gate) judgeAdapters(b *check.Builder, hosts []*host) {
	anywhere := slices.ContainsFunc(hosts, func(h *host) bool {
		return slices.ContainsFunc(g.site.Fabric.HCAs, func(name string) bool { return known(h.facts.fig.Host.Adapters[name]) })
	})
	if !anywhere && len(hosts) > 0 && g.rails() {
		b.Note(hosts[0].facts.obs.ID, everyNode, "compare the adapters' bandwidth (ib_write_bw) where links cannot be seen", "no kernel says what the PCIe links of adapters run at: they are not judged")
		return
	}
	slots := map[string]bool{}
	for _, h := range hosts {
		for _, name := range g.site.Fabric.HCAs {
			o, suspect, l := h.facts.obs, h.name+"/"+name, h.facts.fig.Host.Adapters[name]
			switch {
			case !known(l):
				b.Unobserved(o.ID, suspect, remedyUnobserved, "the kernel does not say what its PCIe link runs at, as it does of others")
			case *l.SpeedGTs >= *l.MaxSpeedGTs && *l.Width >= *l.MaxWidth:
			case g.carries(l) && !mostBetter(hosts, name, l):
				slots[name] = true
			case *l.SpeedGTs < *l.MaxSpeedGTs:
				b.Fail(o.ID, suspect, remedyAdapter, "its PCIe link runs at %g GT/s, the adapter can do %g", *l.SpeedGTs, *l.MaxSpeedGTs)
			default:
				b.Fail(o.ID, suspect, remedyAdapter, "its PCIe link has %d lanes, the adapter has %d", *l.Width, *l.MaxWidth)
			}
		}
	}
	if len(slots) > 0 {
		b.Note(hosts[0].facts.obs.ID, everyNode, "compare the slots with the server's manual", "the PCIe links of %s run below what the adapters can; they carry the ports' %g Gb/s, and most nodes are no better",
			strings.Join(slices.Sorted(maps.Keys(slots)), ", "), g.profile.Fabric.Rate.Value)
	}
}

// known says that the kernel has all figures of a link. An adapter that can do nothing is
// one of which it has none.
func known(l linuxhost.Link) bool {
	return l.SpeedGTs != nil && l.MaxSpeedGTs != nil && *l.MaxSpeedGTs > 0 && l.Width != nil && l.MaxWidth != nil && *l.MaxWidth > 0
}

// capacity is what a link transfers, in Gb/s: 128 of 130 bits from generation 3 on.
func capacity(l linuxhost.Link) float64 { return *l.SpeedGTs * float64(*l.Width) * 128 / 130 }

// carries tells that a link is no slower than the adapter's port.
func (g *Gate) carries(l linuxhost.Link) bool { return capacity(l) >= g.profile.Fabric.Rate.Value }

// mostBetter tells that the adapter of this name has a faster link on more than half of the hosts.
func mostBetter(hosts []*host, name string, l linuxhost.Link) bool {
	n := 0
	for _, h := range hosts {
		if other := h.facts.fig.Host.Adapters[name]; known(other) && capacity(other) > capacity(l) {
			n++
		}
	}
	return 2*n > len(hosts)
}

// judgeGovernors: every CPU frequency policy has a governor of the profile's. Where it
// demands none, and most hosts have performance everywhere, the others are defects; else
// governors are noted: powersave is what intel_pstate and amd-pstate begin with, and no
// defect. Machines without cpufreq, as virtual ones, are noted where none has it.
func (g *Gate) judgeGovernors(b *check.Builder, hosts []*host) {
	if len(hosts) == 0 {
		return
	}
	if !slices.ContainsFunc(hosts, func(h *host) bool { return len(h.facts.fig.Host.Governors) > 0 }) {
		b.Note(hosts[0].facts.obs.ID, everyNode, "see that firmware or hypervisor runs the CPUs at full frequency", "no host has CPU frequency governors: they are not judged")
		return
	}
	want, whose := g.profile.Node.CPUGovernors, "expected"
	if len(want) == 0 {
		want, whose = []string{fullSpeed}, "most nodes have"
		if !mostAtFullSpeed(hosts) {
			b.Note(hosts[0].facts.obs.ID, everyNode, "prefer "+fullSpeed+" where the latency of the CPUs counts (cpupower frequency-set -g "+fullSpeed+")", "the CPU frequency governors are %s: the profile demands none (node.cpuGovernors)", governorsOf(hosts))
			want = nil
		}
	}
	for _, h := range hosts {
		governors := h.facts.fig.Host.Governors
		if len(governors) == 0 {
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "has no CPU frequency governor, as other nodes have")
		}
		for _, name := range slices.Sorted(maps.Keys(governors)) {
			if governors[name] <= 0 {
				b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "shows %d CPU policies with the frequency governor %s", governors[name], name)
			}
			if len(want) > 0 && !slices.Contains(want, name) {
				b.Fail(h.facts.obs.ID, h.name, remedyGovernor, "the frequency governor of %d CPU policies is %s, %s %s", governors[name], name, whose, strings.Join(want, " or "))
			}
		}
	}
}

// fullSpeed is the governor that runs CPUs at their highest frequency.
const fullSpeed = "performance"

// mostAtFullSpeed tells that more than half of the hosts have no other governor.
func mostAtFullSpeed(hosts []*host) bool {
	n := 0
	for _, h := range hosts {
		if governors := h.facts.fig.Host.Governors; len(governors) == 1 && governors[fullSpeed] > 0 {
			n++
		}
	}
	return 2*n > len(hosts)
}

// governorsOf names all that hosts have: "performance, powersave".
func governorsOf(hosts []*host) string {
	all := map[string]bool{}
	for _, h := range hosts {
		for name := range h.facts.fig.Host.Governors {
			all[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}
