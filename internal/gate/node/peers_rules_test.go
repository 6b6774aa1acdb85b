package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
)

// switchAbove are the bridges of a switch above a GPU and an adapter.
func switchAbove(gpu int) []linuxhost.Bridge {
	bus := busNumber(gpu)
	return []linuxhost.Bridge{
		{Address: "0000:fe:01.0", First: bus, Last: bus + 3, Redirects: []string{"ReqRedir"}}, // a root port
		{Address: fmt.Sprintf("0000:%02x:00.0", bus-2), First: bus - 1, Last: bus, Port: linuxhost.UpstreamPort},
		{Address: fmt.Sprintf("0000:%02x:00.0", bus-1), First: bus, Last: bus, Port: linuxhost.DownstreamPort},
		{Address: fmt.Sprintf("0000:%02x:01.0", bus-1), First: bus, Last: bus, Port: linuxhost.DownstreamPort},
	}
}

func busNumber(gpu int) int {
	var n int
	if _, err := fmt.Sscanf(bus(gpu), "0000:%x:", &n); err != nil {
		panic(err)
	}
	return n
}

// onBareMetal are healthy hosts with the facts of IOMMU and bridges.
func onBareMetal(t *testing.T, nodes int) []*hostSeen {
	t.Helper()
	hosts := healthy(t, nodes)
	for _, h := range hosts {
		h.Facts.Host.Processor = "GenuineIntel"
		h.Facts.Host.IOMMU = map[string]string{"mlx5_0": "identity", bus(2): "identity"}
		h.Bridges = &bridgesSeen{Bridges: switchAbove(2)}
	}
	return hosts
}

func TestPeerToPeer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil   func(*hostSeen)
		verdict check.Verdict
		suspect string
		saying  string
	}{
		"a root port redirects": {func(*hostSeen) {}, check.Passed, "", ""},
		"the GPU's port":        {func(h *hostSeen) { h.Bridges.Bridges[2].Redirects = []string{"ReqRedir"} }, check.Failed, "gpu-02/gpu2", "at ports of its switch: 0000:"},
		"the adapter's port":    {func(h *hostSeen) { h.Bridges.Bridges[3].Redirects = []string{"CmpltRedir"} }, check.Failed, "gpu-02/gpu2", "PCIe ACS redirects"},
		"translated GPU":        {func(h *hostSeen) { h.Facts.Host.IOMMU[bus(2)] = "DMA-FQ" }, check.Failed, "gpu-02", "addresses of GPUs and adapters (type DMA-FQ)"},
		"translated adapter":    {func(h *hostSeen) { h.Facts.Host.IOMMU["mlx5_0"] = "DMA" }, check.Failed, "gpu-02", "expected identity: mlx5_0"},
		"no IOMMU":              {func(h *hostSeen) { h.Facts.Host.IOMMU = nil }, check.Passed, "", ""},
		"translated on Grace":   {func(h *hostSeen) { h.Facts.Host.IOMMU["mlx5_0"], h.Facts.Host.Processor = "DMA-FQ", "" }, check.Passed, "", ""},
		"a virtual machine": {func(h *hostSeen) {
			h.Bridges.Bridges[2].Redirects, h.Facts.Host.IOMMU["mlx5_0"], h.Facts.Host.Virtual = []string{"ReqRedir"}, "DMA-FQ", true
		}, check.Passed, "", ""},
		"not root":               {func(h *hostSeen) { h.Bridges.Bridges[2].Denied = true }, check.Passed, "gpu-02", "lspci shows capabilities to root only"},
		"lspci is not installed": {func(h *hostSeen) { h.Broken["lspci"] = true }, check.Passed, "gpu-02", "is not known: lspci on gpu-02: exited 1"},
		"a bridge of no GPU": {func(h *hostSeen) {
			h.Bridges.Bridges = append(h.Bridges.Bridges, linuxhost.Bridge{Address: "0000:f0:00.0", First: 0xf1, Last: 0xf2, Port: linuxhost.DownstreamPort, Redirects: []string{"ReqRedir"}})
		}, check.Passed, "", ""},
		"evidence before it was":  {func(h *hostSeen) { h.Gone["lspci"] = true }, check.Passed, "", ""},
		"the switch of other GPU": {func(h *hostSeen) { h.Bridges.Bridges = append(switchAbove(2), redirect(switchAbove(5))...) }, check.Failed, "gpu-02/gpu5", "PCIe ACS redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := onBareMetal(t, 3)
			tt.spoil(hosts[1])
			j := judge(t, hosts)
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			found := slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.saying) && f.Remedy != ""
			})
			if found != (tt.suspect != "") {
				t.Errorf("%+v", j.Findings)
			}
		})
	}
}

func redirect(bridges []linuxhost.Bridge) []linuxhost.Bridge {
	for i := range bridges {
		bridges[i].Redirects = []string{"ReqRedir"}
	}
	return bridges
}

// A node without traffic between devices over PCIe is not asked.
func TestPeersOverPCIe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		adapters      bool
		nvlinks, gpus float64
		asked         bool
	}{
		"adapters": {true, 18, 8, true}, "GPUs without NVLink": {false, 0, 4, true}, "GPUs with NVLink": {false, 18, 8, false}, "one GPU": {false, 0, 1, false},
	} {
		s, p := testSite(1), testProfile(t)
		if !tt.adapters {
			s.Fabric.HCAs = nil
		}
		p.GPU.NVLinks.Value, p.Node.GPUs.Value = tt.nvlinks, tt.gpus
		g := node.New(s, p, node.Deps{})
		if asked := strings.Contains(strings.Join(g.Describe(), "\n"), "lspci -D -vvv -d ::0604"); asked != tt.asked {
			t.Errorf("%s: asked: %t", name, asked)
		}
		for _, c := range g.HostCommands() {
			if c.Argv[0] == "lspci" {
				t.Errorf("%s: a preflight tries %v", name, c.Argv)
			}
		}
		if strings.Contains(strings.Join(node.NewLowLoad(s, p, node.Deps{}).Describe(), "\n"), "lspci") {
			t.Errorf("%s: a watch runs lspci", name)
		}
	}
	hosts := onBareMetal(t, 1)
	hosts[0].Bridges.Bridges = redirect(hosts[0].Bridges.Bridges)
	s := testSite(1)
	s.Fabric.HCAs = nil
	if j := plan.Judge(node.New(s, testProfile(t), node.Deps{}), observations(t, hosts)); slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "ACS") }) {
		t.Errorf("ACS is judged without peers: %+v", j.Findings)
	}
}
