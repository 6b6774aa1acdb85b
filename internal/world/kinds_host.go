package world

import "time"

// hostFaults are those of gate node that are not a GPU's own defects: how it is attached,
// and what is wrong with the host around it.
func hostFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "nic-pcie-degraded", Gate: "node", TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "an adapter's PCIe link runs below what the adapter can",
			Options: []FaultOption{{Name: "how", Default: "speed", Values: []string{"speed", "width"}, Summary: "PCIe 3.0 instead of 5.0, or 8 lanes instead of 16"}},
			Suspect: `{node}.*{hca}`,
			apply: func(d *draft, t target, f Fault) {
				l := &d.Nodes[t.node].HCALinks[t.hca]
				if f.Options["how"] == "width" {
					l.Width /= 2
					return
				}
				l.GTs = 8
			},
		},
		{
			Kind: "kernel-log-wrapped", Gate: "node", Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "newer lines have overwritten the beginning of a node's kernel log: errors of before are lost", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].LogWrapped = true },
		},
		{
			Kind: "ssh-hosts-swapped", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the SSH addresses of a node and of the next one are swapped: each leads to the other host", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				other := (t.node + 1) % len(d.GPUNodes())
				d.Nodes[t.node].LoginTo, d.Nodes[other].LoginTo = d.Nodes[other].Name, d.Nodes[t.node].Name
			},
		},
		{
			Kind: "cpu-governor", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's CPUs save power: their frequency governor is powersave", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Governor = "powersave" },
		},
		{
			Kind: "memory-short", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "half of a node's memory is gone", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].MemoryGiB /= 2 },
		},
		{
			Kind: "clock-skew", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's clock is ahead of the others",
			Options: []FaultOption{{Name: "seconds", Default: "90", Min: -3600, Max: 3600, Summary: "how far ahead; below zero, behind"}},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				d.Nodes[t.node].ClockOffset = time.Duration(f.number("seconds") * float64(time.Second))
			},
		},
		{
			Kind: "hugepages-missing", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node has not reserved the huge pages that the others have", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].HugePages = 0 },
		},
		{
			Kind: "gpu-affinity-wrong", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu2",
			Summary: "a GPU is attached to the other socket than on the other nodes: far from its adapter and its CPUs",
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, _ Fault) { d.gpu(t).Socket = 1 - d.gpu(t).Socket },
		},
	}
}
