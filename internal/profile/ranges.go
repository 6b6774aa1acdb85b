package profile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// bound is what a figure's value may be; limits are part of it.
type bound struct {
	figure   Figure
	path     string
	min, max float64
	whole    bool
}

// problem says why a value can be of no such thing; nil where it can.
func (b bound) problem() error {
	v := b.figure.Value
	switch {
	case math.IsNaN(v) || v < b.min || v > b.max:
		return fmt.Errorf("invalid %s: %g %s: must be from %g to %g", b.path, v, b.figure.Unit, b.min, b.max)
	case b.whole && v != math.Trunc(v):
		return fmt.Errorf("invalid %s: %g %s: must be a whole number", b.path, v, b.figure.Unit)
	default:
		return nil
	}
}

// bounds are those of figures that are counts, parts or ratios.
func (p *Profile) bounds() []bound {
	const most = 1e6
	t, c := p.Training, p.Collective
	bounds := []bound{
		{p.Node.GPUs, "node.gpus", 1, most, true},
		{p.Node.HCAs, "node.hcas", 0, most, true},
		{p.Node.DiagnosticLevel, "node.diagnosticLevel", 1, 4, true},
		{p.GPU.NVLinks, "gpu.nvlinks", 0, most, true},
		{p.Node.MemorySpread, "node.memorySpread", 0, 1, false},
		{c.LargestSizes, "collective.largestSizes", 1, most, true},
		{c.Repetitions, "collective.repetitions", 1, most, true},
		{c.MinFraction, "collective.minFraction", 0, 1, false},
		{c.RatioTolerance, "collective.ratioTolerance", 0, 0.5, false},
		{t.MinMFU, "training.minMFU", 0, 1, false},
		{t.MaxP95P50, "training.maxP95P50", 1, most, false},
		{t.MaxCV, "training.maxCV", 0, 1, false},
		{t.MaxDrift, "training.maxDrift", 0, 1, false},
		{t.MaxRankLag, "training.maxRankLag", 0, 1, false},
		{t.MaxGPULag, "training.maxGPULag", 0, 1, false},
		{p.Telemetry.MinUtilUnderLoad, "telemetry.minUtilUnderLoad", 0, 100, false},
	}
	bounds = append(bounds, p.hardware()...)
	if d := p.Node.NVLinkDomain; d != nil {
		bounds = append(bounds, bound{*d, "node.nvlinkDomain", 1, most, true})
	}
	if c.ScaleLoss != nil {
		bounds = append(bounds, bound{*c.ScaleLoss, "collective.scaleLoss", 0, 0.5, false})
	}
	if c.SuiteFloor != nil {
		bounds = append(bounds, bound{*c.SuiteFloor, "collective.suiteFloor", 0, 1, false})
	}
	return bounds
}

// hardware are the bounds of figures of machines: far wider than any machine is, and narrow
// enough that a figure in another unit is outside of them. Hardware that a profile
// does not have may have zero.
func (p *Profile) hardware() []bound {
	g, n, f := p.GPU, p.Node, p.Fabric
	bounds := []bound{
		{g.Memory, "gpu.memory", 1024, 4 << 20, true},
		{g.TDP, "gpu.tdp", 20, 5000, false},
		{g.MaxSMClock, "gpu.maxSMClock", 300, 5000, false},
		{g.MinLoadSMClock, "gpu.minLoadSMClock", 300, 5000, false},
		{g.PeakBF16, "gpu.peakBF16", 10, 1e5, false},
		{g.NVLinkRate, "gpu.nvlinkRate", 0, 500, false},
		{g.PCIeGen, "gpu.pcieGen", 1, 10, true},
		{g.PCIeWidth, "gpu.pcieWidth", 1, 32, true},
		{g.SlowdownTmp, "gpu.slowdownTemp", 40, 130, false},
		{n.Power, "node.power", 0.1, 500, false},
		{n.Heat, "node.heat", 0.1, 500, false},
		{n.Weight, "node.weight", 1, 5000, false},
		{n.Memory, "node.memory", 8, 1 << 17, false},
		{f.Rate, "fabric.rate", 0, 1e4, false},
		{f.Width, "fabric.width", 0, 16, true},
		{f.LaneSpeed, "fabric.laneSpeed", 0, 1000, false},
	}
	if r := f.RoCE; r != nil {
		bounds = append(bounds, bound{r.MTU, "fabric.roce.mtu", 256, 4096, true}, bound{r.NetdevMTU, "fabric.roce.netdevMTU", 256, 1 << 16, true}, bound{r.MaxPause, "fabric.roce.maxPause", 0, 1, false})
	}
	for i, row := range p.Collective.Ceilings {
		bounds = append(bounds, bound{row.Busbw, fmt.Sprintf("collective.ceilings[%d].busbw", i), 1, 2e4, false})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Collective.Suite)) {
		for i, row := range p.Collective.Suite[name].Ceilings {
			bounds = append(bounds, bound{row.Busbw, fmt.Sprintf("collective.suite.%s.ceilings[%d].busbw", name, i), 1, 2e4, false})
		}
	}
	return bounds
}

// classFloor begins the source of a figure of a class floor.
const classFloor = "class floor: "

// zero are the figures that may be zero: where none is a demand, and where the profile says
// that there is no such hardware.
func (p *Profile) zero() []string {
	paths := []string{"node.maxRemappedRows", "training.warmupSteps"}
	if p.GPU.NVLinks.Value == 0 {
		paths = append(paths, "gpu.nvlinks", "gpu.nvlinkRate")
	}
	if !p.Rails() {
		paths = append(paths, "node.hcas", "fabric.rate")
	}
	if !p.Subnet() {
		paths = append(paths, "fabric.width", "fabric.laneSpeed")
	}
	for name := range p.Fabric.CounterLimits {
		paths = append(paths, fmt.Sprintf("fabric.counterLimits[%s]", name))
	}
	for name := range p.GPU.NVLinkErrorLimits {
		paths = append(paths, fmt.Sprintf("gpu.nvlinkErrorLimits[%s]", name))
	}
	return paths
}

// agreement reports figures that contradict each other.
func (p *Profile) agreement() []error {
	var out []error
	if !slices.Contains(kinds, p.Fabric.Kind) {
		out = append(out, fmt.Errorf("unknown fabric.kind %q: want one of %s", p.Fabric.Kind, strings.Join(kinds, ", ")))
	}
	if p.Fabric.RoCE != nil && p.Fabric.Kind != RoCE {
		out = append(out, fmt.Errorf("fabric.roce and fabric.kind %q contradict each other", p.Fabric.Kind))
	}
	if p.Rails() == (p.Fabric.Kind == NoFabric) {
		out = append(out, fmt.Errorf("node.hcas of %g and fabric.kind %q contradict each other: a fabric has rails, and rails have a fabric", p.Node.HCAs.Value, p.Fabric.Kind))
	}
	if (p.GPU.NVLinks.Value == 0) != (p.GPU.NVLinkRate.Value == 0) {
		out = append(out, fmt.Errorf("gpu.nvlinks of %g and gpu.nvlinkRate of %g contradict each other", p.GPU.NVLinks.Value, p.GPU.NVLinkRate.Value))
	}
	if g := p.GPU; g.MinLoadSMClock.Value > g.MaxSMClock.Value {
		out = append(out, fmt.Errorf("gpu.minLoadSMClock of %g and gpu.maxSMClock of %g contradict each other", g.MinLoadSMClock.Value, g.MaxSMClock.Value))
	}
	if g := p.GPU; g.IdlePower != nil && g.IdlePower.Value >= g.TDP.Value {
		out = append(out, fmt.Errorf("gpu.idlePower of %g and gpu.tdp of %g contradict each other", g.IdlePower.Value, g.TDP.Value))
	}
	return slices.Concat(out, rows("collective.ceilings", p.Collective.Ceilings), p.suiteProblems())
}

// rows reports rows of ceilings that contradict each other.
func rows(path string, ceilings []Ceiling) []error {
	var out []error
	nodes := map[int]bool{}
	for i, row := range ceilings {
		if row.ClassFloor != strings.HasPrefix(row.Busbw.Source, classFloor) {
			out = append(out, fmt.Errorf("invalid %s[%d]: classFloor is %t, and the source of busbw must begin with %q if and only if it is true", path, i, row.ClassFloor, classFloor))
		}
		if row.Nodes < 1 || nodes[row.Nodes] {
			out = append(out, fmt.Errorf("invalid %s[%d].nodes: %d: must be positive and in one row only", path, i, row.Nodes))
		}
		nodes[row.Nodes] = true
	}
	return out
}

// xidClasses are those that a driver error may be in; those of demanded must not be empty.
var (
	xidClasses  = []string{"isolate", "reboot", "reset", "monitor", "ignore"}
	xidDemanded = []string{"reboot", "reset"}
)

// lists reports lists that are empty or ambiguous: checks only look for listed items.
func (p *Profile) lists() []error {
	var out []error
	if len(p.Node.XIDs) == 0 || p.Node.XIDSource == "" {
		out = append(out, errors.New("node.xids and node.xidSource are needed: without them no driver error is a fault"))
	}
	class := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Node.XIDs)) {
		if !slices.Contains(xidClasses, name) {
			out = append(out, fmt.Errorf("unknown class node.xids.%s: want one of %v", name, xidClasses))
		}
		for _, code := range p.Node.XIDs[name] {
			if was, ok := class[code]; ok {
				out = append(out, fmt.Errorf("invalid node.xids: %d is in %s and in %s", code, was, name))
			}
			class[code] = name
		}
	}
	for _, name := range xidDemanded {
		if len(p.Node.XIDs[name]) == 0 {
			out = append(out, fmt.Errorf("node.xids.%s is empty", name))
		}
	}
	if len(p.Node.ResetSXIDs) > 0 && p.Node.SXIDSource == "" {
		out = append(out, errors.New("node.sxidSource is empty"))
	}
	if len(p.Node.FaultClockReasons) == 0 {
		out = append(out, errors.New("node.faultClockReasons is empty"))
	}
	if p.GPU.NVLinks.Value > 0 && len(p.GPU.NVLinkErrorLimits) == 0 {
		out = append(out, errors.New("gpu.nvlinkErrorLimits is empty"))
	}
	for _, version := range slices.Sorted(maps.Keys(p.Node.RequiredDiagnostics)) {
		if len(p.Node.RequiredDiagnostics[version]) == 0 {
			out = append(out, fmt.Errorf("node.requiredDiagnostics[%q] is empty", version))
		}
	}
	if p.Subnet() && len(p.Fabric.CounterLimits) == 0 {
		out = append(out, errors.New("fabric.counterLimits is empty"))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Fabric.NotErrors)) {
		if p.Fabric.NotErrors[name] == "" {
			out = append(out, fmt.Errorf("invalid fabric.notErrors.%s: the source is missing", name))
		}
		if _, ok := p.Fabric.CounterLimits[name]; ok {
			out = append(out, fmt.Errorf("invalid fabric.notErrors.%s: has a limit in fabric.counterLimits", name))
		}
	}
	if p.Rails() && len(p.Collective.Transports) == 0 {
		out = append(out, errors.New("collective.transports is empty"))
	}
	return out
}
