package world

import "strings"

func nodeFaults() []FaultKind {
	const onGPU = `{node}.*{gpu}`
	return []FaultKind{
		{
			Kind: "gpu-off-bus", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-03/gpu5",
			Summary: "a GPU fell off the PCIe bus (XID 79)", Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				d.gpu(t).Lost = true
				d.xid(t, f, 79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.")
			},
		},
		{
			Kind: "ecc-uncorrectable", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-02/gpu1",
			Summary: "a GPU's memory has an uncorrectable error (XID 48, 95)",
			Options: []FaultOption{
				{Name: "memory", Default: "dram", Values: []string{"dram", "sram"}, Summary: "type of memory"},
				{Name: "count", Default: "1", Min: 1, Max: 1000, Summary: "number of errors"},
			},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				g, n := d.gpu(t), uint64(f.number("count"))
				if f.Options["memory"] == "sram" {
					g.Volatile.SRAMUncorrectable += n
					g.Aggregate.SRAMUncorrectable += n
				} else {
					g.Volatile.DRAMUncorrectable += n
					g.Aggregate.DRAMUncorrectable += n
					g.Remap.Uncorrectable++
				}
				d.xid(t, f, 48, "pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physical address 0x5c4b3a00 partition 7, subpartition 1.")
				d.xid(t, f, 95, "pid='<unknown>', name=<unknown>, Uncontained: FBHUB. RST: Yes, D-RST: No")
			},
		},
		{
			Kind: "row-remap-pending", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-02/gpu1",
			Summary: "a GPU has remapped a memory row and needs a reset (XID 63), or the remapping failed (XID 64)",
			Options: []FaultOption{{Name: "how", Default: "pending", Values: []string{"pending", "failure"}, Summary: "pending reset, or failed"}},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				g := d.gpu(t)
				g.Remap.Pending = true
				g.Remap.Uncorrectable++
				if f.Options["how"] == "failure" {
					g.Remap.Failure = true
					d.xid(t, f, 64, "pid='<unknown>', name=<unknown>, Row Remapper: Failed to remap a row: bank 0x0000000000000004, row 0x00000000000003a1")
					return
				}
				d.xid(t, f, 63, "pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000000000003a1) marked for remapping, reset gpu to activate.")
			},
		},
		{
			Kind: "rows-remapped", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-02/gpu1",
			Summary: "a GPU's memory has remapped many rows; no remapping is pending and none failed",
			Options: []FaultOption{
				{Name: "after", Default: "correctable", Values: []string{"correctable", "uncorrectable"}, Summary: "errors that caused the remappings"},
				{Name: "rows", Default: "600", Min: 513, Max: 2560, Summary: "number of rows"},
			},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				r, rows := &d.gpu(t).Remap, int(f.number("rows"))
				if f.Options["after"] == "uncorrectable" {
					r.Uncorrectable += rows
					return
				}
				r.Correctable += rows
			},
		},
		{
			Kind: "thermal-throttle", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu2",
			Summary: "a GPU throttles because of its temperature", Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) { d.hot[[2]int{t.node, t.gpu}] = f.Since },
		},
		{
			Kind: "clocks-capped", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-01/gpu6",
			Summary: "a GPU's clocks are capped below the card's maximum",
			Options: []FaultOption{
				{Name: "mhz", Default: "1410", Min: 345, Max: 1965, Summary: "maximum clock"},
				{Name: "by", Default: "firmware", Values: []string{"firmware", "applications"}, Summary: "the card's maximum, or only the applications clocks"},
			},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				g, mhz := d.gpu(t), int(f.number("mhz"))
				g.AppSMClock = mhz
				if f.Options["by"] == "firmware" {
					g.MaxSMClock = mhz
				}
			},
		},
		{
			Kind: "clocks-locked", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-01/gpu6",
			Summary: "a GPU's SM clock is locked low (nvidia-smi -lgc): it shows only in the clock under load",
			Options: []FaultOption{{Name: "mhz", Default: "1500", Min: 345, Max: 1650, Summary: "maximum clock"}},
			Suspect: onGPU,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).LockedClock = int(f.number("mhz")) },
		},
		{
			Kind: "power-capped", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-01/gpu6",
			Summary: "a GPU's power limit is below the card's default",
			Options: []FaultOption{{Name: "watts", Default: "500", Min: 200, Max: 690, Summary: "power limit"}},
			Suspect: onGPU,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).PowerLimit = f.number("watts") },
		},
		{
			Kind: "driver-mismatch", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node has a different driver, or a library that does not match its kernel module",
			Options: []FaultOption{{Name: "how", Default: "version", Values: []string{"version", "library"}, Summary: "different driver version, or nvidia-smi fails to start"}},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				n := &d.Nodes[t.node]
				if f.Options["how"] == "library" {
					major, _, _ := strings.Cut(d.Nodes[t.node].Hardware.Software.OtherDriver, ".")
					n.NVMLError = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: " + major
					return
				}
				n.Driver, n.CUDA = d.Nodes[t.node].Hardware.Software.OtherDriver, "12.8"
				if n.FabricManager.Version != "" {
					n.FabricManager.Version = n.Driver // both are of one release
				}
			},
		},
		{
			Kind: "nvlink-down", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu0",
			Summary: "NVLinks of a GPU are down",
			Options: []FaultOption{{Name: "links", Default: "1", Min: 1, Max: 18, Summary: "number of links"}},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				up := d.gpu(t).NVLinkUp
				for i := range min(int(f.number("links")), len(up)) {
					up[(4+i)%len(up)] = false
				}
				d.xid(t, f, 74, "pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 4(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)")
			},
		},
		{
			Kind: "pcie-gen-degraded", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-03/gpu4",
			Summary: "a GPU's PCIe link trained at a lower generation or width than card and slot support",
			Options: []FaultOption{
				{Name: "how", Default: "generation", Values: []string{"generation", "width"}, Summary: "a lower PCIe generation, or half of the lanes"},
				{Name: "generation", Default: "3", Min: 1, Max: 4, Summary: "PCIe generation"},
			},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				if f.Options["how"] == "width" {
					d.gpu(t).PCIeWidth /= 2
					return
				}
				d.gpu(t).PCIeGen = int(f.number("generation"))
			},
		},
		{
			Kind: "throttled-under-load", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu2",
			Summary: "the power brake slows a GPU down under load; at idle only its counter shows it", Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				g := d.gpu(t)
				g.BrakesUnderLoad = true
				// The load of a diagnostic is not simulated: the braking time is that of the
				// fault.
				g.HWPowerBrake += max(0, d.Now.Sub(f.Since)) / 2
			},
		},
		{
			Kind: "throttle-counters-missing", Gate: "node", Expect: "unobserved", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu2",
			Summary: "nvidia-smi does not report how long a GPU was throttled: throttling under load cannot be observed", Suspect: onGPU,
			apply: func(d *draft, t target, _ Fault) { d.gpu(t).NoThrottleCounters = true },
		},
		{
			Kind: "nvlink-errors", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu0",
			Summary: "an NVLink of a GPU is up and retransmits packets continuously; its counter grows",
			Options: []FaultOption{{Name: "per-second", Default: "5000", Min: 1000, Max: 1e6, Summary: "retransmissions per second"}},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				d.gpu(t).LinkErrors += 1 + uint64(max(0, d.Now.Sub(f.Since).Seconds())*f.number("per-second"))
			},
		},
		{
			Kind: "ecc-correctable-storm", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-02/gpu1",
			Summary: "a GPU's memory corrects errors at a high rate (XID 92)",
			Options: []FaultOption{{Name: "memory", Default: "dram", Values: []string{"dram", "sram"}, Summary: "type of memory"}},
			Suspect: onGPU,
			apply: func(d *draft, t target, f Fault) {
				for _, e := range []*ECC{&d.gpu(t).Volatile, &d.gpu(t).Aggregate} {
					if f.Options["memory"] == "sram" {
						e.SRAMCorrectable += 50_000
					} else {
						e.DRAMCorrectable += 50_000_000
					}
				}
				d.xid(t, f, 92, "pid='<unknown>', name=<unknown>, High single-bit ECC error rate")
			},
		},
		{
			Kind: "gpu-count-short", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a node booted with one GPU missing and no error in its log", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				gpus := d.Nodes[t.node].GPUs
				gpus[len(gpus)-1].Present = false
			},
		},
		{
			Kind: "gpu-model", Gate: "node", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "a node has GPUs of another model",
			Options: []FaultOption{
				{Name: "model", Default: "h200-sxm", Values: gpuModelNames(), Summary: "model of the GPUs; clocks, power and links remain those of the node's hardware"},
				{Name: "gpus", Default: "8", Min: 1, Max: 8, Summary: "number of GPUs, at most that of the node's hardware"},
			},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				models, err := gpuModels()
				if err != nil {
					return // unreachable: AddFault has checked the model
				}
				model, most := models[f.Options["model"]], int(f.number("gpus"))
				d.eachNode(t, func(n *Node) {
					n.Hardware.GPU = n.Hardware.GPU.as(model)
					for i := most; i < len(n.GPUs); i++ {
						n.GPUs[i].Present = false
					}
				})
			},
		},
	}
}

// xid adds a driver error to the node's kernel log.
func (d *draft) xid(t target, f Fault, code int, text string) {
	n := &d.Nodes[t.node]
	bus, _, _ := strings.Cut(n.GPUs[t.gpu].BusID, ".")
	n.XIDs = append(n.XIDs, XID{At: f.Since, BusID: strings.ToLower(bus), Code: code, Text: text})
}
