package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/site"
)

// ahead sets a host's clock forward.
func (h *hostSeen) ahead(by time.Duration) {
	h.Facts.Host.Clock, h.Facts.Host.ClockAfter = h.Facts.Host.Clock.Add(by), h.Facts.Host.ClockAfter.Add(by)
}

func (h *hostSeen) adapter(name string, change func(*linuxhost.Link)) {
	l := h.Facts.Host.Adapters[name]
	change(&l)
	h.Facts.Host.Adapters[name] = l
}

// otherSocket attaches a GPU as those of the other socket are.
func (h *hostSeen) otherSocket(gpu int) {
	p := &h.Facts.Host.GPUs[gpu]
	p.Affinity, p.Paths["mlx5_0"] = "56-111 1 N/A", "SYS"
}

// Defects of a host around its GPUs, and of links that are up, passed: no rule
// checked the adapters' PCIe links, the counters of NVLinks, corrected errors, names,
// governors, memory, clocks, huge pages and the places of GPUs.
func TestDefectsOfTheHost(t *testing.T) {
	t.Parallel()
	all := func(change func(*hostSeen)) func([]*hostSeen) {
		return func(hosts []*hostSeen) {
			for _, h := range hosts {
				change(h)
			}
		}
	}
	for name, tt := range map[string]struct {
		nodes    int
		spoil    func([]*hostSeen)
		suspects []string
		saying   string
	}{
		"adapter at PCIe 3.0": {3, func(h []*hostSeen) {
			h[1].adapter("mlx5_1", func(l *linuxhost.Link) { l.SpeedGTs = new(8.0) })
		}, []string{"gpu-02/mlx5_1"}, "runs at 8 GT/s, the adapter supports 32"},
		"adapter at PCIe 3.0 on the only node": {1, func(h []*hostSeen) {
			h[0].adapter("mlx5_1", func(l *linuxhost.Link) { l.SpeedGTs = new(8.0) })
		}, []string{"gpu-01/mlx5_1"}, "8 GT/s"},
		"adapter on 8 lanes": {3, func(h []*hostSeen) {
			h[1].adapter("mlx5_0", func(l *linuxhost.Link) { l.Width = new(int64(8)) })
		}, []string{"gpu-02/mlx5_0"}, "8 lanes, the adapter has 16"},
		"NVLink that repeats packets": {3, func(h []*hostSeen) { h[1].CountedAfter.GPUs[2].Links[4].Counters["Replay Errors"] = 4 }, []string{"gpu-02/gpu2"}, "NVLink 4: Replay Errors grew by 1"},
		"NVLink that recovers":        {3, func(h []*hostSeen) { h[1].CountedAfter.GPUs[2].Links[17].Counters["Recovery Errors"] = 2 }, []string{"gpu-02/gpu2"}, "NVLink 17: Recovery Errors grew by 2"},
		"NVLink with CRC errors":      {1, func(h []*hostSeen) { h[0].CountedAfter.GPUs[0].Links[0].Counters["CRC Errors"] = 900 }, []string{"gpu-01/gpu0"}, "CRC Errors grew by 900"},
		"a storm of corrected errors in DRAM": {3, func(h []*hostSeen) {
			h[1].gpu(2, func(g *nvidia.GPU) { g.Volatile.DRAMCorrectable = new(int64(20_000_001)) })
		}, []string{"gpu-02/gpu2"}, "20000001 corrected ECC errors (volatile DRAM), expected at most 20000000"},
		"a storm of corrected errors in SRAM, in its life": {3, func(h []*hostSeen) {
			h[1].gpu(2, func(g *nvidia.GPU) { g.Aggregate.SRAMCorrectable = new(int64(10_001)) })
		}, []string{"gpu-02/gpu2"}, "aggregate SRAM"},
		"rows remapped after corrected errors": {3, func(h []*hostSeen) {
			h[1].gpu(2, func(g *nvidia.GPU) { g.Remap.CorrectableRows = new(int64(9_999)) })
		}, []string{"gpu-02/gpu2"}, "9999 rows remapped after corrected errors"},
		"two hosts swapped": {3, func(h []*hostSeen) {
			h[0].Facts.Host.Name, h[1].Facts.Host.Name = "gpu-02.example.org", "GPU-01"
		}, []string{"gpu-01", "gpu-02"}, "reports the name gpu-02.example.org"},
		"both of two hosts swapped": {2, func(h []*hostSeen) {
			h[0].Facts.Host.Name, h[1].Facts.Host.Name = "gpu-02", "gpu-01"
		}, []string{"gpu-01", "gpu-02"}, "reports the name gpu-02"},
		"a host of another site": {3, func(h []*hostSeen) { h[1].Facts.Host.Name = "storage-7" }, []string{"gpu-02"}, "reports the name storage-7"},
		"a CPU saves power":      {3, func(h []*hostSeen) { h[1].Facts.Host.Governors["powersave"] = 2 }, []string{"gpu-02"}, "governor of 2 CPU policies is powersave, most nodes have performance"},
		"half of the memory":     {3, func(h []*hostSeen) { h[1].Facts.Host.MemoryKiB = new(int64(2113000000 / 2)) }, []string{"gpu-02"}, "has 1008 GiB of memory, the other nodes have 2015 GiB"},
		"a DIMM of two nodes":    {2, func(h []*hostSeen) { h[0].Facts.Host.MemoryKiB = new(int64(2113000000 / 32 * 31)) }, []string{"gpu-01"}, "the other nodes have 2015 GiB"},
		"less memory than the profile": {1, func(h []*hostSeen) {
			h[0].Facts.Host.MemoryKiB = new(int64(600 << 20))
		}, []string{"gpu-01"}, "expected at least 640 GiB"},
		"a clock ahead":  {3, func(h []*hostSeen) { h[1].ahead(90 * time.Second) }, []string{"gpu-02"}, "differs from that of most nodes by at least 1m29"},
		"a clock behind": {4, func(h []*hostSeen) { h[1].ahead(-2 * time.Second) }, []string{"gpu-02"}, "that of most nodes by at least 1.9"},
		"a clock of two": {2, func(h []*hostSeen) { h[1].ahead(90 * time.Second) }, []string{"gpu-02"}, "that of firstlight's own machine"},
		"the only clock": {1, func(h []*hostSeen) { h[0].ahead(90 * time.Second) }, []string{"gpu-01"}, "that of firstlight's own machine"},
		"two clocks of four": {4, func(h []*hostSeen) {
			h[1].ahead(3 * time.Second)
			h[2].ahead(3 * time.Second)
		}, []string{"gpu-02", "gpu-03"}, "that of firstlight's own machine"},
		"a node without huge pages": {3, func(h []*hostSeen) { h[1].Facts.Host.HugePages = new(int64(0)) }, []string{"gpu-02"}, "has reserved 0 huge pages of 2048 KiB, most nodes have 1024 huge pages"},
		"one of two without huge pages": {2, func(h []*hostSeen) { h[1].Facts.Host.HugePages = new(int64(0)) },
			[]string{"gpu-01", "gpu-02"}, "without a majority"},
		"huge pages of another size": {3, func(h []*hostSeen) { h[1].Facts.Host.HugePageKiB = new(int64(1 << 20)) }, []string{"gpu-02"}, "of 1048576 KiB"},
		"a GPU on the other socket":  {3, func(h []*hostSeen) { h[1].otherSocket(2) }, []string{"gpu-02/gpu2"}, "CPUs 56-111 1 N/A"},
		"a GPU of two nodes on another socket": {2, func(h []*hostSeen) { h[1].otherSocket(2) },
			[]string{"gpu-01/gpu2", "gpu-02/gpu2"}, "without a majority"},
		"PCIe generation, by the diagnostic": {3, func(h []*hostSeen) {
			h[1].result("pcie", 4, nvidia.DiagFail, nvidia.DiagWarning{Text: "GPU 4 is running at PCI link generation 3, which is below the minimum allowed link generation of 5 (parameter 'min_pci_generation')"})
			h[1].Diag.Outcome = nvidia.DiagTestFailed
		}, []string{"gpu-02/gpu4"}, "link generation 3"},
		"another driver on one of three": {3, func(h []*hostSeen) { h[1].After.Log.Driver = "570.1" }, []string{"gpu-02"}, "driver is 570.1; most nodes have driver 580.105.08"},
		"another driver on one of two":   {2, func(h []*hostSeen) { h[0].After.Log.Driver = "570.1" }, []string{"gpu-01", "gpu-02"}, "driver is 570.1; other nodes have driver 580.105.08, without a majority"},
		"another VBIOS on one of two nodes": {2, func(h []*hostSeen) {
			for i := range gpusPerNode {
				h[0].gpu(i, func(g *nvidia.GPU) { g.VBIOS = "95.00" })
			}
		}, []string{
			"gpu-01/gpu0", "gpu-01/gpu1", "gpu-01/gpu2", "gpu-01/gpu3", "gpu-01/gpu4", "gpu-01/gpu5", "gpu-01/gpu6", "gpu-01/gpu7",
			"gpu-02/gpu0", "gpu-02/gpu1", "gpu-02/gpu2", "gpu-02/gpu3", "gpu-02/gpu4", "gpu-02/gpu5", "gpu-02/gpu6", "gpu-02/gpu7",
		}, "VBIOS is 95.00, 8 of 16 GPUs have it, without a majority"},
		"a GPU whose clock is locked": {3, func(h []*hostSeen) {
			for _, look := range h[1].Load.Samples {
				look[2].SMClockMHz = new(min(*look[2].SMClockMHz, 1500))
			}
		}, []string{"gpu-02/gpu2"}, "rose to 1500 MHz under the diagnostic's load, expected at least 1700 MHz"},
		"every clock off against ours, and one more": {3, func(h []*hostSeen) {
			all(func(x *hostSeen) { x.ahead(-time.Hour) })(h)
			h[2].ahead(time.Minute)
		}, []string{"gpu-03"}, "that of most nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, tt.nodes)
			tt.spoil(hosts)
			j := judge(t, hosts)
			if j.Verdict != check.Failed {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			var got []string
			said := false
			for _, f := range j.Findings {
				if strings.HasPrefix(f.Suspect, "gpu-") {
					got = append(got, f.Suspect)
				}
				said = said || strings.Contains(f.Message, tt.saying)
				if f.Remedy == "" {
					t.Errorf("without remedy: %+v", f)
				}
			}
			if !slices.Equal(got, tt.suspects) || !said {
				t.Errorf("suspects %v, want %v and %q: %+v", got, tt.suspects, tt.saying, j.Findings)
			}
		})
	}
}

// The only node of a site of one machine has the machine's name.
func TestNameOfTheOnlyMachine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]check.Verdict{"gpu-01": check.Passed, "GPU-01.example.org": check.Passed, "gpu-02": check.Failed} {
		hosts := healthy(t, 1)
		hosts[0].Facts.Host.Name = name
		s := testSite(1)
		s.Spine = site.SpineSingleNode
		j := plan.Judge(node.New(s, testProfile(t), node.Deps{}), observations(t, hosts))
		if j.Verdict != want || want == check.Failed && !strings.Contains(j.Reason, "the machine reports the name gpu-02") {
			t.Errorf("%s: %s %s", name, j.Verdict, j.Reason)
		}
	}
}

// A difference that is not a defect passes, with a note where something could not be judged.
func TestHostsThatAreFine(t *testing.T) {
	t.Parallel()
	each := func(change func(i int, h *hostSeen)) func([]*hostSeen) {
		return func(hosts []*hostSeen) {
			for i, h := range hosts {
				change(i, h)
			}
		}
	}
	for name, tt := range map[string]struct {
		nodes int
		spoil func([]*hostSeen)
		notes []string
	}{
		"one node":  {1, func([]*hostSeen) {}, nil},
		"two nodes": {2, func([]*hostSeen) {}, nil},
		"virtual machines": {3, each(func(_ int, h *hostSeen) {
			h.Facts.Host.Governors, h.Facts.Host.Adapters = nil, map[string]linuxhost.Link{"mlx5_0": {}, "mlx5_1": {}}
		}), []string{"every node"}},
		"a site that names its nodes itself":                   {3, each(func(i int, h *hostSeen) { h.Facts.Host.Name = fmt.Sprintf("ip-10-0-0-%d.ec2.internal", i) }), nil},
		"names with a domain":                                  {3, each(func(_ int, h *hostSeen) { h.Facts.Host.Name += ".example.org" }), nil},
		"memory that firmware keeps":                           {3, func(h []*hostSeen) { h[1].Facts.Host.MemoryKiB = new(int64(2113000000 * 99 / 100)) }, nil},
		"every CPU has powersave, the default of intel_pstate": {3, each(func(_ int, h *hostSeen) { h.Facts.Host.Governors = map[string]int{"powersave": 112} }), []string{"every node"}},
		"governors of two kinds of machines": {4, each(func(i int, h *hostSeen) {
			h.Facts.Host.Governors = map[string]int{[]string{"powersave", "performance"}[i%2]: 112}
		}), []string{"every node"}},
		"an adapter outside the fabric":      {3, func(h []*hostSeen) { h[1].Facts.Host.GPUs[0].Paths["mlx5_9"] = "PIX" }, nil},
		"a clock of ours that is wrong, two": {2, each(func(_ int, h *hostSeen) { h.ahead(time.Hour) }), []string{"firstlight's own machine"}},
		"no huge pages anywhere":             {3, each(func(_ int, h *hostSeen) { h.Facts.Host.HugePages = new(int64(0)) }), nil},
		"a slow login":                       {3, func(h []*hostSeen) { h[1].Facts.AnsweredAt = h[1].Facts.AnsweredAt.Add(8 * time.Second) }, nil},
		"a clock within the limit":           {3, func(h []*hostSeen) { h[1].ahead(900 * time.Millisecond) }, nil},
		"a clock of ours that is wrong":      {3, each(func(_ int, h *hostSeen) { h.ahead(time.Hour) }), []string{"firstlight's own machine"}},
		"errors of long ago": {3, func(h []*hostSeen) {
			for _, c := range []countedSeen{h[1].CountedBefore, h[1].CountedAfter} {
				c.GPUs[1].Links[2].Counters["CRC Errors"] = 900
			}
		}, nil},
		"NVLinks down are judged elsewhere": {3, func(h []*hostSeen) {
			for i := 1; i < gpusPerNode; i++ {
				h[1].Facts.Host.GPUs[i].Paths["GPU0"] = "NV17"
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, tt.nodes)
			tt.spoil(hosts)
			j := judge(t, hosts)
			if j.Verdict != check.Passed {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			var notes []string
			for _, f := range j.Findings {
				notes = append(notes, f.Suspect)
			}
			if !slices.Equal(notes, tt.notes) {
				t.Errorf("notes %v, want %v: %+v", notes, tt.notes, j.Findings)
			}
		})
	}
}

// A missing value of a host is unobserved, and so is what one host lacks and the
// others have.
func TestAHostsValueThatIsMissing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil           func(*hostSeen)
		suspect, saying string
	}{
		"no name":                  {func(h *hostSeen) { h.Facts.Host.Name = "" }, "gpu-02", "its name"},
		"no clock":                 {func(h *hostSeen) { h.Facts.Host.Clock = time.Time{} }, "gpu-02", "does not report its clock"},
		"no second reading":        {func(h *hostSeen) { h.Facts.Host.ClockAfter = time.Time{} }, "gpu-02", "does not report its clock"},
		"no time of asking":        {func(h *hostSeen) { h.Facts.AskedAt = time.Time{} }, "gpu-02", "does not report its clock"},
		"a login of a minute":      {func(h *hostSeen) { h.Facts.AnsweredAt = h.Facts.AnsweredAt.Add(time.Minute) }, "gpu-02", "known to 1m0.02s only"},
		"no memory":                {func(h *hostSeen) { h.Facts.Host.MemoryKiB = nil }, "gpu-02", "memory size"},
		"no huge pages":            {func(h *hostSeen) { h.Facts.Host.HugePages = nil }, "gpu-02", "huge pages"},
		"no governor, unlike most": {func(h *hostSeen) { h.Facts.Host.Governors = nil }, "gpu-02", "as other nodes have"},
		"no link of an adapter":    {func(h *hostSeen) { delete(h.Facts.Host.Adapters, "mlx5_1") }, "gpu-02/mlx5_1", "PCIe link"},
		"no width of an adapter":   {func(h *hostSeen) { h.adapter("mlx5_1", func(l *linuxhost.Link) { l.Width = nil }) }, "gpu-02/mlx5_1", "PCIe link"},
		"no topology":              {func(h *hostSeen) { h.Facts.Host.GPUs = nil }, "gpu-02", "topo -m lists 0 GPUs, expected 8"},
		"a GPU without counters":   {func(h *hostSeen) { h.CountedAfter.GPUs = h.CountedAfter.GPUs[:7] }, "gpu-02/gpu7", "are missing"},
		"a counter missing before": {func(h *hostSeen) { delete(h.CountedBefore.GPUs[2].Links[3].Counters, "CRC Errors") }, "gpu-02/gpu2", "NVLink 3 does not count CRC Errors"},
		"a counter missing after":  {func(h *hostSeen) { delete(h.CountedAfter.GPUs[2].Links[3].Counters, "CRC Errors") }, "gpu-02/gpu2", "NVLink 3 does not count CRC Errors"},
		"a link missing before":    {func(h *hostSeen) { h.CountedBefore.GPUs[2].Links = h.CountedBefore.GPUs[2].Links[1:] }, "gpu-02/gpu2", "NVLink 0 does not count"},
		"a counter that fell":      {func(h *hostSeen) { h.CountedAfter.GPUs[2].Links[3].Counters["Replay Errors"] = 0 }, "gpu-02/gpu2", "decreased during the diagnostic, from 3 to 0"},
		"a GPU never under load": {func(h *hostSeen) {
			for _, look := range h.Load.Samples {
				look[2].Util = new(int64(49))
			}
		}, "gpu-02/gpu2", "not under load in any of 3 samples"},
		"a GPU seen at its power limit in every sample": {func(h *hostSeen) {
			h.Load.Samples[1][2].SMClockMHz, h.Load.Samples[1][2].PowerW, h.Load.Samples[1][2].PowerLimitW = new(int64(1455)), new(698.2), new(700.0)
			h.Load.Samples[2][2].PowerW, h.Load.Samples[2][2].PowerLimitW = new(702.0), new(700.0)
		}, "gpu-02/gpu2", "at its power limit in every sample"},
		"a GPU that does not say its load": {func(h *hostSeen) { h.Load.Samples[1][2].Util, h.Load.Samples[2][2].SMClockMHz = nil, nil }, "gpu-02/gpu2", "not under load in any"},
		"no look during the diagnostic":    {func(h *hostSeen) { h.Load.Samples = nil }, "gpu-02/gpu2", "any of 0 samples"},
		"no corrected errors":              {func(h *hostSeen) { h.gpu(2, func(g *nvidia.GPU) { g.Aggregate.DRAMCorrectable = nil }) }, "gpu-02/gpu2", "aggregate DRAM correctable"},
		"no corrected rows":                {func(h *hostSeen) { h.gpu(2, func(g *nvidia.GPU) { g.Remap.CorrectableRows = nil }) }, "gpu-02/gpu2", "row remapping"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := healthy(t, 3)
			tt.spoil(hosts[1])
			j := judge(t, hosts)
			if j.Verdict != check.Unobserved {
				t.Fatalf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.saying) && f.Remedy != ""
			}) {
				t.Errorf("want %s: %s, got %+v", tt.suspect, tt.saying, j.Findings)
			}
		})
	}
}

// GPUs with NVLinks and without NVSwitches of Hopper and later have no fabric state: a
// healthy A100 was always unobserved.
func TestNVLinksWithoutAFabricState(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	for _, h := range hosts {
		for i := range gpusPerNode {
			h.gpu(i, func(g *nvidia.GPU) { g.FabricState, g.FabricStatus = "", "" })
		}
	}
	bridges := testProfile(t)
	bridges.Collective.NVLS = false
	if j := node.New(testSite(2), bridges, node.Deps{}).Judge(observations(t, hosts)); j.Verdict != check.Passed {
		t.Errorf("without NVSwitches: %s: %s", j.Verdict, j.Reason)
	}
	hosts[1].gpu(3, func(g *nvidia.GPU) { g.FabricState = "In Progress" })
	if j := node.New(testSite(2), bridges, node.Deps{}).Judge(observations(t, hosts)); j.Verdict != check.Failed {
		t.Errorf("a state that is bad: %s", j.Verdict)
	}
	hosts[1].gpu(3, func(g *nvidia.GPU) { g.FabricState = "" })
	if j := judge(t, hosts); j.Verdict != check.Unobserved {
		t.Errorf("with NVSwitches: %s: %s", j.Verdict, j.Reason)
	}
}

// A profile may demand governors: then every host is compared with it, not with the others.
func TestGovernorsThatAProfileDemands(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 3)
	for _, h := range hosts {
		h.Facts.Host.Governors = map[string]int{"powersave": 112}
	}
	demanding := testProfile(t)
	demanding.Node.CPUGovernors = []string{"performance"}
	j := node.New(testSite(3), demanding, node.Deps{}).Judge(observations(t, hosts))
	if j.Verdict != check.Failed || len(j.Findings) != 3 || !strings.Contains(j.Findings[0].Message, "is powersave, expected performance") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Adapters of 200 Gb/s in PCIe 4.0 slots carry their rate: a healthy cluster failed, since
// its adapters could do PCIe 5.0. One that runs below the others' is still a defect.
func TestAdaptersInSlowerSlots(t *testing.T) {
	t.Parallel()
	slower := func(h *hostSeen, name string, gts float64) {
		h.adapter(name, func(l *linuxhost.Link) { l.SpeedGTs = new(gts) })
	}
	hosts := healthy(t, 3)
	for _, h := range hosts {
		slower(h, "mlx5_0", 16)
		slower(h, "mlx5_1", 16)
	}
	ndr200 := testProfile(t)
	ndr200.Fabric.Rate.Value = 200
	judge := func() check.Judgement {
		return node.New(testSite(3), ndr200, node.Deps{}).Judge(observations(t, hosts))
	}
	for _, h := range hosts {
		for i := range h.HCAs.HCAs {
			for p := range h.HCAs.HCAs[i].Ports {
				h.HCAs.HCAs[i].Ports[p].RateGbps = 200
			}
		}
	}
	j := judge()
	if j.Verdict != check.Passed || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "mlx5_0, mlx5_1") {
		t.Errorf("PCIe 4.0 everywhere: %s: %+v", j.Verdict, j.Findings)
	}
	hosts[1].adapter("mlx5_0", func(l *linuxhost.Link) { l.SpeedGTs, l.Width = new(32.0), new(int64(8)) })
	if j = judge(); j.Verdict != check.Passed {
		t.Errorf("as fast as the others on fewer lanes: %s: %+v", j.Verdict, j.Findings)
	}
	for _, h := range hosts[:2] {
		h.adapter("mlx5_0", func(l *linuxhost.Link) { l.SpeedGTs, l.Width = new(32.0), new(int64(16)) })
	}
	if j = judge(); j.Verdict != check.Failed || j.Findings[0].Suspect != "gpu-03/mlx5_0" {
		t.Errorf("better on most hosts: %s: %+v", j.Verdict, j.Findings)
	}
}
