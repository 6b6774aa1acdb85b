package node_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/infiniband"
	"github.com/firstlight/firstlight/internal/probe/linuxhost"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// hostSeen is what the gate has seen of one host, by kind of observation.
type hostSeen struct {
	Before, After smiSeen
	Links         linksSeen
	HCAs          hcasSeen
	Diag          diagSeen
	Kernel        nvidia.XidLog
	Facts         factsSeen
	Load          loadSeen
	Manager       nvidia.FabricManager
	// IMEX is of nodes in an NVLink domain of several nodes; others do not have the observation.
	IMEX *nvidia.IMEX
	// Bridges are PCIe bridges; nil: the host was not asked.
	Bridges *bridgesSeen
	// CountedBefore and CountedAfter are NVLink error counters around the diagnostic.
	CountedBefore, CountedAfter countedSeen
	// Gone are kinds that were not observed, Broken those that could not be read.
	Gone, Broken map[string]bool
}

type smiSeen struct {
	Log     *nvidia.SMILog   `json:"log,omitempty"`
	Trouble nvidia.SMIErrors `json:"trouble"`
}

type loadSeen struct {
	Samples [][]nvidia.Clock `json:"samples"`
}

type countedSeen struct {
	GPUs []nvidia.NVLinkErrors `json:"gpus"`
}

type factsSeen struct {
	Host       linuxhost.Host `json:"host"`
	AskedAt    time.Time      `json:"askedAt"`
	AnsweredAt time.Time      `json:"answeredAt"`
}

type bridgesSeen struct {
	Bridges []linuxhost.Bridge `json:"bridges"`
}

type linksSeen struct {
	GPUs []nvidia.NVLinks `json:"gpus"`
}

type hcasSeen struct {
	HCAs []infiniband.HCA `json:"hcas"`
}

type diagSeen struct {
	Outcome nvidia.DiagOutcome `json:"outcome"`
	Meaning string             `json:"meaning"`
	Diag    nvidia.Diag        `json:"diag"`
}

var kinds = []string{
	"nvidia-smi", "nvidia-smi-nvlink", "ibstat", "host", "nvidia-fabricmanager", "nvidia-smi-nvlink-errors",
	"dcgmi-diag", "nvidia-smi-load", "nvidia-smi-after", "nvidia-smi-nvlink-errors-after", "dmesg",
}

const (
	gpusPerNode = 8
	linksPerGPU = 18
)

func testSite(nodes int) *site.Site {
	s := &site.Site{Fabric: site.Fabric{HCAs: []string{"mlx5_0", "mlx5_1"}}, Reach: site.Reach{SSH: site.SSH{Concurrency: 2}}}
	for i := range nodes {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	return s
}

func testProfile(tb testing.TB) *profile.Profile {
	tb.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// healthy returns the observations of healthy hosts.
func healthy(tb testing.TB, nodes int) []*hostSeen {
	tb.Helper()
	p := testProfile(tb)
	var out []*hostSeen
	for n := range nodes {
		h := &hostSeen{
			Before: smiSeen{Log: healthyLog(n)}, After: smiSeen{Log: healthyLog(n)},
			Diag:   diagSeen{Outcome: nvidia.DiagCompleted, Meaning: "completed", Diag: nvidia.Diag{Major: 4, Serials: map[int]string{}}},
			Kernel: nvidia.XidLog{Lines: 100, FromBoot: true}, Gone: map[string]bool{}, Broken: map[string]bool{},
		}
		h.Load = healthyLoad(h.Before.Log)
		h.Manager = nvidia.FabricManager{Unit: &nvidia.Unit{Load: "loaded", Active: "active", Sub: "running"}, Processes: new(1), Version: h.Before.Log.Driver}
		h.Facts = healthyFacts(fmt.Sprintf("gpu-%02d", n+1))
		for _, name := range testSite(nodes).Fabric.HCAs {
			h.HCAs.HCAs = append(h.HCAs.HCAs, infiniband.HCA{Name: name, Ports: []infiniband.HCAPort{{Number: 1, State: "Active", PhysicalState: "LinkUp", RateGbps: 400}}})
		}
		for i, gpu := range h.Before.Log.GPUs {
			links := nvidia.NVLinks{Index: i, UUID: gpu.UUID}
			for l := range linksPerGPU {
				links.Links = append(links.Links, nvidia.NVLink{Number: l, Active: true, GBps: 26.562})
			}
			h.Links.GPUs = append(h.Links.GPUs, links)
			h.CountedBefore.GPUs = append(h.CountedBefore.GPUs, healthyCounters(i, gpu.UUID))
			h.CountedAfter.GPUs = append(h.CountedAfter.GPUs, healthyCounters(i, gpu.UUID))
			h.Diag.Diag.Serials[i] = gpu.Serial
		}
		for _, name := range p.Node.RequiredDiagnostics["4"] {
			test := nvidia.DiagTest{Name: name, Status: nvidia.DiagPass}
			for i := range gpusPerNode {
				test.Results = append(test.Results, nvidia.DiagResult{Group: nvidia.DiagGroupGPU, ID: &i, Status: nvidia.DiagPass})
			}
			h.Diag.Diag.Tests = append(h.Diag.Diag.Tests, test)
		}
		out = append(out, h)
	}
	return out
}

// healthyCounters are those of a GPU that has repeated some packets long ago.
func healthyCounters(index int, uuid string) nvidia.NVLinkErrors {
	e := nvidia.NVLinkErrors{Index: index, UUID: uuid}
	for l := range linksPerGPU {
		e.Links = append(e.Links, nvidia.LinkErrors{Number: l, Counters: map[string]int64{"Replay Errors": 3, "Recovery Errors": 0, "CRC Errors": 0}})
	}
	return e
}

// healthyLoad is of GPUs seen at rest, then copying, then at their power limit.
func healthyLoad(log *nvidia.SMILog) loadSeen {
	var l loadSeen
	for _, now := range []struct {
		util, clock int64
		power       float64
	}{{0, 345, 75}, {60, 1980, 320}, {100, 1410, 699}} {
		var look []nvidia.Clock
		for _, gpu := range log.GPUs {
			look = append(look, nvidia.Clock{UUID: gpu.UUID, Util: new(now.util), SMClockMHz: new(now.clock), PowerW: new(now.power), PowerLimitW: new(700.0)})
		}
		l.Samples = append(l.Samples, look)
	}
	return l
}

// healthyFacts are of a host that was asked at noon, and took 40 ms to answer.
func healthyFacts(name string) factsSeen {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	link := linuxhost.Link{SpeedGTs: new(32.0), MaxSpeedGTs: new(32.0), Width: new(int64(16)), MaxWidth: new(int64(16))}
	f := factsSeen{AskedAt: noon, AnsweredAt: noon.Add(40 * time.Millisecond), Host: linuxhost.Host{
		Name: name, Clock: noon.Add(10 * time.Millisecond), ClockAfter: noon.Add(30 * time.Millisecond),
		MemoryKiB: new(int64(2113000000)), HugePages: new(int64(1024)), HugePageKiB: new(int64(2048)),
		Governors: map[string]int{"performance": 112}, Adapters: map[string]linuxhost.Link{"mlx5_0": link, "mlx5_1": link},
	}}
	for i := range gpusPerNode {
		place := nvidia.GPUTopology{Index: i, Affinity: fmt.Sprintf("%d-%d %d N/A", 56*(i/4), 56*(i/4)+55, i/4), Paths: map[string]string{"mlx5_0": "NODE", "mlx5_1": "SYS"}}
		for other := range gpusPerNode {
			if other != i {
				place.Paths[fmt.Sprintf("GPU%d", other)] = "NV18"
			}
		}
		f.Host.GPUs = append(f.Host.GPUs, place)
	}
	return f
}

func healthyLog(n int) *nvidia.SMILog {
	log := &nvidia.SMILog{Driver: "580.105.08", Attached: gpusPerNode}
	for i := range gpusPerNode {
		clean := nvidia.ECCErrors{
			SRAMUncorrectable: new(int64(0)), DRAMUncorrectable: new(int64(0)),
			SRAMCorrectable: new(int64(9_000)), DRAMCorrectable: new(int64(19_000_000)),
		}
		log.GPUs = append(log.GPUs, nvidia.GPU{
			Index: i, BusID: bus(i), UUID: fmt.Sprintf("GPU-%d-%d", n, i), Serial: fmt.Sprintf("%d%d", n+1, i),
			Product: "NVIDIA H100 80GB HBM3", VBIOS: "96.00", MemoryTotalMiB: new(int64(81559)), ECC: "Enabled",
			Volatile: clean, Aggregate: clean,
			Remap: &nvidia.RowRemap{CorrectableRows: new(int64(0)), UncorrectableRows: new(int64(1)), Pending: new(false), Failure: new(false)},
			ClockReasons: map[string]bool{
				"gpu_idle": true, "sw_power_cap": false, "hw_slowdown": false, "hw_thermal_slowdown": false,
				"hw_power_brake_slowdown": false, "sw_thermal_slowdown": false,
			},
			ClockCountersUS: map[string]int64{"hw_therm_slowdown": 5, "hw_power_brake": 7, "sw_therm_slowdown": 9, "sw_power_cap": 11},
			MaxSMClockMHz:   new(int64(1980)), PowerLimitW: new(700.0), DefaultPowerLimitW: new(700.0), TemperatureC: new(30.0),
			PCIeMaxGen: new(int64(5)), PCIeWidth: new(int64(16)), RecoveryAction: "None", FabricState: "Completed", FabricStatus: "Success",
		})
	}
	return log
}

func bus(i int) string { return fmt.Sprintf("0000:%02x:00.0", 0x1b+i) }

// gpu is a GPU in both documents of a host.
func (h *hostSeen) gpu(i int, change func(*nvidia.GPU)) {
	change(&h.Before.Log.GPUs[i])
	change(&h.After.Log.GPUs[i])
}

// lose takes the GPU out of everything but the diagnostic.
func (h *hostSeen) lose(i int) {
	for _, log := range []*nvidia.SMILog{h.Before.Log, h.After.Log} {
		log.GPUs = append(log.GPUs[:i:i], log.GPUs[i+1:]...)
		log.Attached--
		for k := range log.GPUs {
			log.GPUs[k].Index = k
		}
	}
	h.Links.GPUs = append(h.Links.GPUs[:i:i], h.Links.GPUs[i+1:]...)
	h.CountedBefore.GPUs = append(h.CountedBefore.GPUs[:i:i], h.CountedBefore.GPUs[i+1:]...)
	h.CountedAfter.GPUs = append(h.CountedAfter.GPUs[:i:i], h.CountedAfter.GPUs[i+1:]...)
	h.Facts.Host.GPUs = h.Facts.Host.GPUs[:len(h.Facts.Host.GPUs)-1]
}

// result changes a test's result on a GPU, and the test's status with it.
func (h *hostSeen) result(test string, gpu int, status nvidia.DiagStatus, warnings ...nvidia.DiagWarning) {
	for i := range h.Diag.Diag.Tests {
		t := &h.Diag.Diag.Tests[i]
		if t.Name == test {
			t.Status = status
			t.Results[gpu].Status, t.Results[gpu].Warnings = status, warnings
		}
	}
}

// observations are those of all hosts, as a store gives them back.
func observations(tb testing.TB, hosts []*hostSeen) []check.Observation {
	tb.Helper()
	var out []check.Observation
	for n, h := range hosts {
		name := fmt.Sprintf("gpu-%02d", n+1)
		figures := map[string]any{
			"nvidia-smi": h.Before, "nvidia-smi-nvlink": h.Links, "ibstat": h.HCAs,
			"dcgmi-diag": h.Diag, "nvidia-smi-after": h.After, "dmesg": h.Kernel,
			"host": h.Facts, "nvidia-smi-load": h.Load, "nvidia-fabricmanager": h.Manager, "nvidia-imex": h.IMEX, "lspci": h.Bridges, "nvidia-smi-nvlink-errors": h.CountedBefore, "nvidia-smi-nvlink-errors-after": h.CountedAfter,
		}
		for _, kind := range append(slices.Clone(kinds), "nvidia-imex", "lspci") {
			if h.Gone[kind] || kind == "nvidia-imex" && h.IMEX == nil || kind == "lspci" && h.Bridges == nil {
				continue
			}
			o := check.Observation{ID: kind + "-" + name, Kind: kind, Target: name}
			if h.Broken[kind] {
				o.Err = "exited 1: no output"
			} else {
				data, err := json.Marshal(figures[kind])
				if err != nil {
					tb.Fatal(err)
				}
				o.Figures = data
			}
			out = append(out, o)
		}
	}
	return out
}

func judge(tb testing.TB, hosts []*hostSeen) check.Judgement {
	tb.Helper()
	return plan.Judge(node.New(testSite(len(hosts)), testProfile(tb), node.Deps{}), observations(tb, hosts))
}
