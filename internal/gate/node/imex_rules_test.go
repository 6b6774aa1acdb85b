package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// rack has healthy hosts of one NVLink domain of several nodes.
func rack(t *testing.T, nodes int) []*hostSeen {
	t.Helper()
	hosts := healthy(t, nodes)
	for i, h := range hosts {
		h.Gone["nvidia-fabricmanager"] = true
		for k := range h.Before.Log.GPUs {
			h.gpu(k, func(g *nvidia.GPU) { g.FabricCluster, g.FabricClique = "00000001-0000-0000-0000-000000000001", "32766" })
		}
		h.IMEX = &nvidia.IMEX{Unit: &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}, Addresses: []string{fmt.Sprintf("10.8.0.%d", i+1), "172.17.0.1"}, Domain: &nvidia.IMEXDomain{State: "UP"}}
		for n := range nodes {
			peer := nvidia.IMEXNode{Number: n, Host: fmt.Sprintf("10.8.0.%d", n+1), State: "READY", Version: "580.105.08", Connections: map[int]string{}}
			for to := range nodes {
				peer.Connections[to] = "CONNECTED"
			}
			h.IMEX.Domain.Nodes = append(h.IMEX.Domain.Nodes, peer)
		}
	}
	return hosts
}

// unlist removes an entry from the IMEX domain that a host reports.
func unlist(h *hostSeen, n int) {
	h.IMEX.Domain.Nodes = slices.DeleteFunc(h.IMEX.Domain.Nodes, func(e nvidia.IMEXNode) bool { return e.Number == n })
}

// cut breaks the connection between two nodes in the reports of both.
func cut(hosts []*hostSeen, a, b int) {
	hosts[a].IMEX.Domain.Nodes[a].Connections[b] = "DISCONNECTED"
	hosts[b].IMEX.Domain.Nodes[b].Connections[a] = "DISCONNECTED"
	for _, h := range hosts {
		h.IMEX.Domain.State = "DEGRADED"
	}
}

// stop stops the daemon of a node.
func stop(hosts []*hostSeen, n int) {
	for i, h := range hosts {
		h.IMEX.Domain.State = "DEGRADED"
		h.IMEX.Domain.Nodes[n] = nvidia.IMEXNode{Number: n, Host: h.IMEX.Domain.Nodes[n].Host, State: "UNAVAILABLE", Connections: map[int]string{n: "INVALID"}}
		h.IMEX.Domain.Nodes[i].Connections[n] = "DISCONNECTED"
	}
	own := hosts[n].IMEX
	own.Unit.Active, own.Unit.Sub, own.Domain.State = "inactive", "dead", "DOWN"
	for i := range own.Domain.Nodes {
		own.Domain.Nodes[i].State = "UNAVAILABLE"
	}
}

func eachEntry(hosts []*hostSeen, n int, change func(*nvidia.IMEXNode)) {
	for _, h := range hosts {
		change(&h.IMEX.Domain.Nodes[n])
	}
}

func imexGate(s *site.Site, p *profile.Profile) *node.Gate {
	p.Node.NVLinkDomain.Value = 18
	return node.New(s, p, node.Deps{})
}

func TestIMEX(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil         func([]*hostSeen)
		want          check.Verdict
		suspect, says string
	}{
		"one domain":                  {func([]*hostSeen) {}, check.Passed, "", ""},
		"names in place of addresses": {func(h []*hostSeen) { eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.Host = "gpu-03.rack.example.com" }) }, check.Passed, "", ""},
		"an older daemon's version": {func(h []*hostSeen) {
			for i := range h {
				eachEntry(h, i, func(n *nvidia.IMEXNode) { n.Version = "580.105" })
			}
		}, check.Passed, "", ""},
		"not observed":     {func(h []*hostSeen) { h[2].IMEX = nil }, check.Unobserved, "gpu-03", "nvidia-imex was not run"},
		"a daemon is down": {func(h []*hostSeen) { stop(h, 2) }, check.Failed, "gpu-03", "its IMEX daemon is UNAVAILABLE, expected READY; the unit nvidia-imex is inactive (dead)"},
		"a daemon is down, and its tool prints none": {func(h []*hostSeen) { stop(h, 2); h[2].IMEX.Domain = nil }, check.Failed, "gpu-03", "the IMEX daemon does not run: the unit nvidia-imex is inactive"},
		"no daemon installed": {func(h []*hostSeen) {
			stop(h, 2)
			*h[2].IMEX = nvidia.IMEX{Unit: &nvidia.Unit{Load: "not-found", Active: "inactive", Sub: "dead"}, Addresses: h[2].IMEX.Addresses, Trouble: "sh: 1: nvidia-imex-ctl: not found"}
		}, check.Failed, "gpu-03", "nvidia-imex is not-found; nvidia-imex-ctl: \"sh: 1: nvidia-imex-ctl: not found\""},
		"a daemon that is not ready, and shows nothing": {func(h []*hostSeen) {
			h[2].IMEX.Domain, h[2].IMEX.Daemon, h[2].IMEX.Trouble = nil, "INITIALIZING", "Connection refused"
		}, check.Failed, "gpu-03", "its IMEX daemon is INITIALIZING, expected READY"},
		"a daemon that is ready, and shows nothing": {func(h []*hostSeen) {
			h[2].IMEX.Domain, h[2].IMEX.Daemon, h[2].IMEX.Trouble = nil, "READY", "Connection refused"
		}, check.Unobserved, "gpu-03", "shows no IMEX domain"},
		"a daemon that shows nothing": {func(h []*hostSeen) { h[2].IMEX.Domain, h[2].IMEX.Trouble = nil, "Connection refused" }, check.Unobserved, "gpu-03", "shows no IMEX domain: \"Connection refused\""},
		"no systemd and no domain":    {func(h []*hostSeen) { h[2].IMEX.Domain, h[2].IMEX.Unit = nil, nil }, check.Unobserved, "gpu-03", "shows no IMEX domain"},
		"a daemon that waits":         {func(h []*hostSeen) { eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.State = "WAITING_FOR_PEERS" }) }, check.Failed, "gpu-03", "is WAITING_FOR_PEERS, expected READY"},
		"a daemon that others do not reach": {func(h []*hostSeen) {
			eachEntry(h[:2], 2, func(n *nvidia.IMEXNode) { n.State = "UNAVAILABLE" })
		}, check.Failed, "gpu-03", "is UNAVAILABLE to gpu-01"},
		"a domain that is not up":  {func(h []*hostSeen) { h[2].IMEX.Domain.State = "DEGRADED" }, check.Failed, "gpu-03", "reports its IMEX domain DEGRADED, expected UP"},
		"an unknown state":         {func(h []*hostSeen) { h[2].IMEX.Domain.State = "Up" }, check.Failed, "gpu-03", "reports its IMEX domain Up"},
		"one node is cut off":      {func(h []*hostSeen) { cut(h, 2, 0); cut(h, 2, 1); cut(h, 2, 3) }, check.Failed, "gpu-03", "3 of its IMEX connections are broken"},
		"one connection is broken": {func(h []*hostSeen) { cut(h, 0, 2) }, check.Failed, "gpu-03", "is DISCONNECTED, expected CONNECTED"},
		"one side of a connection": {func(h []*hostSeen) { h[0].IMEX.Domain.Nodes[0].Connections[2] = "RECOVERING" }, check.Failed, "gpu-01", "its IMEX connection to gpu-03 is RECOVERING"},
		"a connection to itself":   {func(h []*hostSeen) { h[2].IMEX.Domain.Nodes[2].Connections[2] = "INVALID" }, check.Failed, "gpu-03", "of gpu-03 to gpu-03 is INVALID"},
		"an unreported connection": {func(h []*hostSeen) { delete(h[2].IMEX.Domain.Nodes[2].Connections, 1) }, check.Unobserved, "gpu-03", "does not report its IMEX connection to gpu-02"},
		"another version": {func(h []*hostSeen) {
			eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.Version = "570.124.06" })
			cut(h, 1, 2)
		}, check.Failed, "gpu-03", "is 570.124.06, expected 580.105.08, the driver's version"},
		"a longer version": {func(h []*hostSeen) { eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.Version = "580.105" }) }, check.Failed, "gpu-03", "has IMEX 580.105; most nodes have IMEX 580.105.08"},
		"no version":       {func(h []*hostSeen) { eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.Version = "" }) }, check.Unobserved, "gpu-03", "reports no version"},
		"a node outside of the domain": {func(h []*hostSeen) {
			unlist(h[0], 2)
			unlist(h[1], 2)
			unlist(h[3], 2)
		}, check.Failed, "gpu-03", "is not in the IMEX domain of the 3 other nodes"},
		"a short list":            {func(h []*hostSeen) { unlist(h[2], 0); unlist(h[2], 1) }, check.Failed, "gpu-03", "lacks gpu-01"},
		"a list without itself":   {func(h []*hostSeen) { unlist(h[2], 2) }, check.Failed, "gpu-03", "does not list it (addresses 10.8.0.3, 172.17.0.1)"},
		"an empty list":           {func(h []*hostSeen) { h[2].IMEX.Domain.Nodes = nil }, check.Failed, "gpu-03", "does not list it"},
		"a foreign node":          {func(h []*hostSeen) { foreign(h, "READY") }, check.Failed, "10.9.9.9", "is in the IMEX domain of 4 nodes, and not in their NVLink domain"},
		"a foreign node of one":   {func(h []*hostSeen) { foreign(h[2:3], "READY") }, check.Failed, "gpu-03", "has 10.9.9.9, which is not in its NVLink domain"},
		"an address of all hosts": {func(h []*hostSeen) { eachEntry(h, 2, func(n *nvidia.IMEXNode) { n.Host = "172.17.0.1" }) }, check.Failed, "gpu-03", "does not list it"},
		"a node of another NVLink domain": {func(h []*hostSeen) {
			for k := range h[2].Before.Log.GPUs {
				h[2].gpu(k, func(g *nvidia.GPU) { g.FabricClique = "1" })
			}
		}, check.Failed, "gpu-03", "in their NVLink domain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, hosts := testSite(4), rack(t, 4)
			for i := range s.Inventory.Nodes {
				s.Inventory.Nodes[i].Rack = fmt.Sprint(i == 2 && strings.Contains(name, "another NVLink"))
			}
			tt.spoil(hosts)
			j := plan.Judge(imexGate(s, testProfile(t)), observations(t, hosts))
			if tt.want != check.Passed {
				checktest.Judged(t, j, tt.want, tt.suspect, tt.says)
			} else if j.Verdict != check.Passed {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
			if one := tt.want == check.Failed && !strings.Contains(name, "one connection") && !strings.Contains(name, "one side") && !strings.Contains(name, "another NVLink") && !strings.Contains(name, "itself") && !strings.Contains(name, "an address of all"); one {
				for _, f := range j.Findings {
					if f.Suspect != tt.suspect {
						t.Errorf("%s is named too: %s", f.Suspect, f.Message)
					}
				}
			}
		})
	}
}

// foreign adds a node that the site does not have to the IMEX domain of hosts.
func foreign(hosts []*hostSeen, state string) {
	for _, h := range hosts {
		h.IMEX.Domain.Nodes = append(h.IMEX.Domain.Nodes, nvidia.IMEXNode{Number: 17, Host: "10.9.9.9", State: state, Version: "580.105.08", Connections: map[int]string{}})
		for i := range h.IMEX.Domain.Nodes {
			h.IMEX.Domain.Nodes[i].Connections[17] = "CONNECTED"
			if state != "READY" {
				h.IMEX.Domain.Nodes[i].Connections[17], h.IMEX.Domain.State = "DISCONNECTED", "DEGRADED"
			}
		}
	}
}

// A node that is left out of the run may be in the domain, and down.
func TestIMEXOfLeftOutNodes(t *testing.T) {
	t.Parallel()
	s, hosts := testSite(3), rack(t, 3)
	s.Inventory.LeftOut = []string{"gpu-04"}
	for _, h := range hosts {
		h.IMEX.Domain.Nodes = append(h.IMEX.Domain.Nodes, nvidia.IMEXNode{Number: 3, Host: "10.8.0.4", State: "UNAVAILABLE"})
		h.IMEX.Domain.State = "DEGRADED"
	}
	if j := plan.Judge(imexGate(s, testProfile(t)), observations(t, hosts)); j.Verdict != check.Passed || len(j.Findings) != 3 {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
	s.Inventory.LeftOut = nil
	checktest.Judged(t, plan.Judge(imexGate(s, testProfile(t)), observations(t, hosts)), check.Failed, "10.8.0.4", "not in their NVLink domain")
}

// A node of another view has not failed: it is matched by its name or address, and excuses neither an
// entry of no node nor a domain that is not up.
func TestIMEXOfOtherViews(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		address     string // of gpu-04 in the site
		entry       string
		state, of   string // of the entry, and of the domain
		want        check.Verdict
		named, says string
	}{
		"by its address":           {"10.8.0.4:22", "10.8.0.4", "READY", "UP", check.Passed, "", ""},
		"by its name":              {"", "gpu-04.rack.example.com", "READY", "UP", check.Passed, "", ""},
		"address without a port":   {"10.8.0.4", "10.8.0.4", "READY", "UP", check.Passed, "", ""},
		"of an unknown address":    {"", "10.8.0.4", "READY", "UP", check.Unobserved, "gpu-01", "whether they are gpu-04 is unknown"},
		"not ready":                {"10.8.0.4", "10.8.0.4", "UNAVAILABLE", "DEGRADED", check.Failed, "gpu-01", "reports its IMEX domain DEGRADED"},
		"degraded, and none known": {"", "10.9.9.9", "UNAVAILABLE", "DEGRADED", check.Failed, "gpu-01", "reports its IMEX domain DEGRADED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, hosts := testSite(4), rack(t, 3)
			s.Inventory.Nodes[3].Address = tt.address
			for _, h := range hosts {
				h.IMEX.Domain.Nodes = append(h.IMEX.Domain.Nodes, nvidia.IMEXNode{Number: 3, Host: tt.entry, State: tt.state, Version: "580.105.08", Connections: map[int]string{}})
				h.IMEX.Domain.State = tt.of
				for i := range hosts {
					h.IMEX.Domain.Nodes[i].Connections[3] = "CONNECTED"
				}
			}
			s = s.Part([]string{"gpu-04"})
			j := plan.Judge(imexGate(s, testProfile(t)), observations(t, hosts))
			if tt.want != check.Passed {
				checktest.Judged(t, j, tt.want, tt.named, tt.says)
			} else if j.Verdict != check.Passed {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
			for _, h := range hosts {
				h.IMEX.Domain.State = "UP"
			}
			foreign(hosts, "READY")
			if tt.address != "" { // gpu-04 is matched: the other entry is of no node
				checktest.Judged(t, plan.Judge(imexGate(s, testProfile(t)), observations(t, hosts)), check.Failed, "10.9.9.9", "not in their NVLink domain")
			}
		})
	}
}

// Without the site's word a host without a daemon fails; with it, the gate tells that IMEX was not judged.
func TestIMEXIsNotApplicable(t *testing.T) {
	t.Parallel()
	for imex, says := range map[string]string{site.IMEXByDRA: "the DRA driver runs", site.IMEXNone: "do not use NVLink between nodes"} {
		s, hosts := testSite(2), rack(t, 2)
		hosts[0].IMEX, hosts[1].IMEX, s.NVLink.IMEX = nil, nil, imex
		g := imexGate(s, testProfile(t))
		j := plan.Judge(g, observations(t, hosts))
		if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, says) {
			t.Errorf("%s: %s: %+v", imex, j.Verdict, j.Findings)
		}
		if lowered := g.Lowered(); (len(lowered) == 1) != (imex == site.IMEXNone) {
			t.Errorf("%s: lowered %v", imex, lowered)
		}
	}
}

// Every field of the domain is demanded, or this list states why not.
func TestEveryFieldOfIMEX(t *testing.T) {
	t.Parallel()
	p := testProfile(t)
	p.Node.GPUs.Value, p.GPU.NVLinks.Value = fewGPUs, fewLinks
	hosts := rack(t, 3)
	for _, h := range hosts {
		h.shrink()
	}
	g := imexGate(testSite(3), p)
	var rest, imex []check.Observation
	for _, o := range observations(t, hosts) {
		if o.Kind == "nvidia-imex" {
			imex = append(imex, o)
		} else {
			rest = append(rest, o)
		}
	}
	checktest.EveryField(t, "imex", func(obs []check.Observation) check.Judgement {
		return plan.Judge(g, slices.Concat(rest, obs))
	}, imex, checktest.Harmless{
		"the last observation of a kind decides":                 {`.*: twice`},
		"the unit explains a daemon that does not answer":        {`.* .unit.*: .*`},
		"an address that the domain does not list":               {`.* .addresses: .*`},
		"a host's own entry counts, and of others their state":   {`.* .domain.nodes.(version|connections.*): .*`, `.* .domain.nodes.connections: .*`},
		"the first node has number 0, which a field left out is": {`.* .domain.nodes.number: left out`},
	})
}
