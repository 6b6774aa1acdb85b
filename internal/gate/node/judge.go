package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const remedyUnobserved = "make the host reachable over SSH and its tools runnable by the site's user, or the GPU Operator's pods by reach.gpuTools, then run the gate again"

const remedyHung = "read the kernel log for the Xid (45, 119, 120), drain the node and reboot it, or power-cycle it: a process that waits for the driver cannot be killed"

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	if len(g.site.Inventory.Nodes) == 0 || g.gpus() == 0 {
		return check.NotObserved("the site's inventory has no GPU nodes, or the profile no GPUs per node")
	}
	if g.site.OnSlurm() {
		var b check.Builder
		if g.judgeJobs(&b, obs); !b.Clean() {
			return b.Judgement("") // nothing was run on the nodes
		}
	}
	hosts := g.hosts(obs)
	b := g.judgeAll(hosts)
	g.judgePods(b, obs)
	b.MergeSuspects()
	nodes := len(g.site.Inventory.Nodes)
	return b.Judgement(fmt.Sprintf("%d GPUs on %d nodes within the limits of the profile and alike; the required diagnostics passed", nodes*g.gpus(), nodes))
}

// judgeAll applies every rule to what was observed on the hosts.
func (g *Gate) judgeAll(hosts []*host) *check.Builder {
	at := newSlots(hosts, g.gpus())
	b := &check.Builder{}
	for _, h := range hosts {
		if !g.lowLoad { // LowLoad.Judge reports each kind by itself
			g.judgeUnobserved(b, h)
			g.judgeUsed(b, h)
		}
		g.judgePresent(b, h, at)
		for _, doc := range h.documents() {
			for _, gpu := range doc.log.GPUs {
				g.judgeGPU(b, doc.obs, at.gpu(h, gpu.BusID), gpu)
			}
			g.judgeMIGLayout(b, h, at, doc)
		}
		g.judgeThrottling(b, h, at)
		g.judgeLoad(b, h, at)
		g.judgeFabricManager(b, h)
		g.judgeNVLinks(b, h, at)
		g.judgeLinkErrors(b, h, at)
		g.judgeHCAs(b, h)
		g.judgePeers(b, h, at)
		g.judgeFirmware(b, h)
		g.judgeDiag(b, h, at)
		g.judgeKernel(b, h, at)
	}
	g.judgeVersions(b, hosts, at)
	g.judgeIMEX(b, hosts, g.judgeNVLinkDomains(b, hosts, at))
	g.judgeHosts(b, hosts, at)
	g.summarise(b, hosts)
	return b
}

// judgeUnobserved reports the missing observations of a host in one finding.
func (g *Gate) judgeUnobserved(b *check.Builder, h *host) {
	var reasons []string
	var first check.Observation
	require := func(ok bool, reason string, o check.Observation) {
		if ok || strings.HasSuffix(reason, notRun) && len(reasons) > 0 {
			return
		}
		if len(reasons) == 0 {
			first = o
		}
		reasons = append(reasons, reason)
	}
	require(h.before.ok(), h.before.reason, h.before.obs)
	require(!h.before.ok() || h.before.fig.read(), kindBefore+noDocument, h.before.obs)
	require(!g.rails() || h.hcas.ok(), h.hcas.reason, h.hcas.obs)
	require(h.kernel.ok(), h.kernel.reason, h.kernel.obs)
	require(h.facts.ok(), h.facts.reason, h.facts.obs)
	require(!g.switches() || h.manager.ok(), h.manager.reason, h.manager.obs)
	require(!g.imex() || h.imex.ok(), h.imex.reason, h.imex.obs)
	if text, _ := h.nvml(); text == "" { // with an NVML error, these fail for the same reason
		ran := !g.withoutDiagnostic(h) // reported by judgeUsed
		require(!ran || h.after.ok(), h.after.reason, h.after.obs)
		require(!h.after.ok() || h.after.fig.read(), kindAfter+noDocument, h.after.obs)
		require(h.links.ok(), h.links.reason, h.links.obs)
		require(!ran || h.diag.ok(), h.diag.reason, h.diag.obs)
		require(!ran || h.load.ok(), h.load.reason, h.load.obs)
		for i, c := range h.linkErrors {
			require(!g.nvlinks() || i > 0 && !ran || c.ok(), c.reason, c.obs)
		}
	}
	remedy := remedyUnobserved
	if slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(reason, errHung.Error()) }) {
		remedy = remedyHung
	}
	if len(reasons) > 0 {
		b.Unobserved(first.ID, h.name, remedy, "was not observed: %s", strings.Join(reasons, "; "))
	}
}
