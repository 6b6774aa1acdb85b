package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

const (
	remedySwapped  = "correct the addresses of the site's inventory, so that each node's name resolves to its own host, then run the gate again"
	remedyMachine  = "run firstlight on the machine of the site, or correct inventory.nodes of the site"
	remedyAdapter  = "reseat the adapter or its riser, check the slot and the BIOS settings of the link (lspci -vv: LnkSta against LnkCap); if it trains no better, replace it"
	remedyGovernor = "set the governor on every CPU (cpupower frequency-set -g performance) and in the boot configuration"
	remedyMemory   = "compare dmidecode -t memory and the BMC's log with another node; reseat or replace the DIMMs that are missing"
	remedyClock    = "start the time service of the host (chronyc tracking, timedatectl) and let it reach its servers"
	remedyPages    = "reserve the same huge pages on every node (vm.nr_hugepages or the kernel's command line), then reboot the node"
	remedyTopology = "compare nvidia-smi topo -m and lspci -t with another node: the GPU is in another slot, or the BIOS and the virtual machine show another NUMA layout"
)

// everyNode is the suspect of a note about all nodes.
const everyNode = "every node"

// judgeHosts compares the facts of each host with the profile, the site and the other hosts.
func (g *Gate) judgeHosts(b *check.Builder, hosts []*host, at slots) {
	var observed []*host
	for _, h := range hosts {
		if h.facts.ok() {
			observed = append(observed, h) // judgeUnobserved reports the others
		}
	}
	g.judgeNames(b, observed)
	g.judgeAdapters(b, observed)
	g.judgeGovernors(b, observed)
	g.judgeHostMemory(b, observed)
	judgeHugePages(b, observed)
	g.judgeHostClocks(b, observed)
	g.judgeTopology(b, observed, at)
}

// judgeNames fails a host with the name of another node. A name that is not in the site
// matters only if most hosts have their node's name: host names may differ from node names.
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
			b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "does not report its name (uname -n)")
		case short(is) == short(h.name):
		case g.site.SingleNode():
			if !g.site.OnMachine(is) {
				b.Fail(h.facts.obs.ID, h.name, remedyMachine, "the machine reports the name %s", is)
			}
		case nodes[short(is)] || 2*own > len(hosts):
			b.Fail(h.facts.obs.ID, h.name, remedySwapped, "the host at its address reports the name %s", is)
		}
	}
}

// short is a host's name without its domain.
func short(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return name
}

// judgeAdapters requires that the PCIe link of every compute-fabric adapter runs at the
// adapter's maximum speed and width. Links that no host reports (virtual functions) are noted.
// A slower link is only noted if it carries the port's rate and most hosts have no better.
func (g *Gate) judgeAdapters(b *check.Builder, hosts []*host) {
	anywhere := slices.ContainsFunc(hosts, func(h *host) bool {
		return slices.ContainsFunc(g.site.Fabric.HCAs, func(name string) bool { return known(h.facts.fig.Host.Adapters[name]) })
	})
	if !anywhere && len(hosts) > 0 && g.rails() {
		b.Note(hosts[0].facts.obs.ID, everyNode, "compare the adapters' bandwidth (ib_write_bw) where links are not reported", "no kernel reports the speed of the adapters' PCIe links: they are not judged")
		return
	}
	slots := map[string]bool{}
	for _, h := range hosts {
		for _, name := range g.site.Fabric.HCAs {
			o, suspect, l := h.facts.obs, h.name+"/"+name, h.facts.fig.Host.Adapters[name]
			switch {
			case !known(l):
				b.Unobserved(o.ID, suspect, remedyUnobserved, "the kernel does not report the speed of its PCIe link, as it does for others")
			case *l.SpeedGTs >= *l.MaxSpeedGTs && *l.Width >= *l.MaxWidth:
			case g.carries(l) && !mostBetter(hosts, name, l):
				slots[name] = true
			case *l.SpeedGTs < *l.MaxSpeedGTs:
				b.Fail(o.ID, suspect, remedyAdapter, "its PCIe link runs at %g GT/s, the adapter supports %g", *l.SpeedGTs, *l.MaxSpeedGTs)
			default:
				b.Fail(o.ID, suspect, remedyAdapter, "its PCIe link has %d lanes, the adapter has %d", *l.Width, *l.MaxWidth)
			}
		}
	}
	if len(slots) > 0 {
		b.Note(hosts[0].facts.obs.ID, everyNode, "compare the slots with the server's manual", "the PCIe links of %s run below the adapters' maximum; they carry the ports' %g Gb/s, and most nodes have no better links",
			strings.Join(slices.Sorted(maps.Keys(slots)), ", "), g.profile.Fabric.Rate.Value)
	}
}

// known reports whether the kernel has all figures of a link. Zero maximums are unknown.
func known(l linuxhost.Link) bool {
	return l.SpeedGTs != nil && l.MaxSpeedGTs != nil && *l.MaxSpeedGTs > 0 && l.Width != nil && l.MaxWidth != nil && *l.MaxWidth > 0
}

// capacity is the data rate of a link in Gb/s: 128 of 130 bits from generation 3 on.
func capacity(l linuxhost.Link) float64 { return *l.SpeedGTs * float64(*l.Width) * 128 / 130 }

// carries reports whether a link is at least as fast as the adapter's port.
func (g *Gate) carries(l linuxhost.Link) bool { return capacity(l) >= g.profile.Fabric.Rate.Value }

// mostBetter reports whether this adapter has a faster link on more than half of the hosts.
func mostBetter(hosts []*host, name string, l linuxhost.Link) bool {
	n := 0
	for _, h := range hosts {
		if other := h.facts.fig.Host.Adapters[name]; known(other) && capacity(other) > capacity(l) {
			n++
		}
	}
	return 2*n > len(hosts)
}

// judgeGovernors requires a governor of the profile for every CPU frequency policy. If the
// profile has none, hosts that differ from a majority with performance fail; otherwise
// governors are noted, since powersave is the default of intel_pstate and amd-pstate. Hosts
// without cpufreq, such as virtual machines, are noted if no host has it.
func (g *Gate) judgeGovernors(b *check.Builder, hosts []*host) {
	if len(hosts) == 0 {
		return
	}
	if !slices.ContainsFunc(hosts, func(h *host) bool { return len(h.facts.fig.Host.Governors) > 0 }) {
		b.Note(hosts[0].facts.obs.ID, everyNode, "check that firmware or hypervisor runs the CPUs at full frequency", "no host has CPU frequency governors: they are not judged")
		return
	}
	want, expectation := g.profile.Node.CPUGovernors, "expected"
	if len(want) == 0 {
		want, expectation = []string{fullSpeed}, "most nodes have"
		if !mostAtFullSpeed(hosts) {
			b.Note(hosts[0].facts.obs.ID, everyNode, "prefer "+fullSpeed+" where the latency of the CPUs counts (cpupower frequency-set -g "+fullSpeed+")", "the CPU frequency governors are %s: the profile requires none (node.cpuGovernors)", governorsOf(hosts))
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
				b.Unobserved(h.facts.obs.ID, h.name, remedyUnobserved, "reports %d CPU policies with the frequency governor %s", governors[name], name)
			}
			if len(want) > 0 && !slices.Contains(want, name) {
				b.Fail(h.facts.obs.ID, h.name, remedyGovernor, "the frequency governor of %d CPU policies is %s, %s %s", governors[name], name, expectation, strings.Join(want, " or "))
			}
		}
	}
}

// fullSpeed is the governor that runs CPUs at their highest frequency.
const fullSpeed = "performance"

// mostAtFullSpeed reports whether more than half of the hosts have no other governor.
func mostAtFullSpeed(hosts []*host) bool {
	n := 0
	for _, h := range hosts {
		if governors := h.facts.fig.Host.Governors; len(governors) == 1 && governors[fullSpeed] > 0 {
			n++
		}
	}
	return 2*n > len(hosts)
}

// governorsOf lists the hosts' governors: "performance, powersave".
func governorsOf(hosts []*host) string {
	all := map[string]bool{}
	for _, h := range hosts {
		for name := range h.facts.fig.Host.Governors {
			all[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}
