package world

import "time"

// The values of Node.SudoRefuses.
const (
	SudoPassword = "password" // its rules ask for a password
	SudoTerminal = "terminal" // requiretty
	SudoRule     = "rule"     // no rule allows the command
)

// hostFaults returns the faults of gate node that are not defects of a GPU: its attachment and its
// host.
func hostFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "nic-pcie-degraded", Gate: "node", TargetForm: FormHCA, DefaultTarget: "gpu-02/mlx5_3",
			Summary: "an adapter's PCIe link runs below the adapter's capability",
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
			Kind: "acs-enabled", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "PCIe Access Control Services are on at the switches above a node's GPUs, as after a boot without the service that switches them off",
			Suspect: `{node}/gpu`,
			apply:   func(d *draft, t target, _ Fault) { d.Nodes[t.node].ACS = true },
		},
		{
			Kind: "iommu-translated", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a node booted without iommu=pt: its IOMMU translates the addresses of GPUs and adapters", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].IOMMU = iommuTranslated },
		},
		{
			Kind: "kernel-log-wrapped", Gate: "node", Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's kernel log has wrapped: earlier errors are lost", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].LogWrapped = true },
		},
		{
			Kind: "kernel-log-restricted", Gate: "node", Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the site's user may not read a node's kernel log", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].LogRestricted = true },
		},
		{
			Kind: "sudo-refused", Gate: "node", Expect: "unobserved", Become: true, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "sudo runs no command for the site's user on a node (needs a site with reach.ssh.become: sudo)",
			Options: []FaultOption{{
				Name: "how", Default: SudoPassword, Values: []string{SudoPassword, SudoTerminal, SudoRule},
				Summary: "it asks for a password, demands a terminal (requiretty), or has no rule for the command",
			}},
			Suspect: `{node}`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].SudoRefuses = f.Options["how"] },
		},
		{
			Kind: "tool-missing", Gate: "node", Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a program that the gate runs is not installed on a node",
			Options: []FaultOption{{Name: "tool", Default: "dcgmi", Values: []string{"dcgmi", "nvidia-smi"}, Summary: "the program"}},
			Suspect: `{node}`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].ToolMissing = f.Options["tool"] },
		},
		{
			Kind: "hostengine-down", Gate: "node", Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "DCGM's host engine does not run on a node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NoHostEngine = true },
		},
		{
			Kind: "ssh-hosts-swapped", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the SSH addresses of a node and of the next one are swapped", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				other := (t.node + 1) % len(d.GPUNodes())
				d.Nodes[t.node].LoginTo, d.Nodes[other].LoginTo = d.Nodes[other].Name, d.Nodes[t.node].Name
			},
		},
		{
			Kind: "cpu-governor", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's CPU frequency governor is powersave", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Governor = "powersave" },
		},
		{
			Kind: "memory-short", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "half of a node's memory is missing", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].MemoryGiB /= 2 },
		},
		{
			Kind: "clock-skew", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's clock is ahead of the others",
			Options: []FaultOption{{Name: "seconds", Default: "90", Min: -3600, Max: 3600, Summary: "seconds ahead; negative: behind"}},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				d.Nodes[t.node].ClockOffset = time.Duration(f.number("seconds") * float64(time.Second))
			},
		},
		{
			Kind: "hugepages-missing", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node lacks the huge pages that the other nodes reserve", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].HugePages = 0 },
		},
		{
			Kind: "gpu-affinity-wrong", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu2",
			Summary: "a GPU is attached to a different socket than on the other nodes, far from its adapter and CPUs",
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, _ Fault) { d.gpu(t).Socket = 1 - d.gpu(t).Socket },
		},
		{
			Kind: "mig-undeclared", Gate: "node", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "GPUs are partitioned into MIG devices, which the lab's site does not declare",
			Options: []FaultOption{{Name: "strategy", Default: MIGMixed, Values: []string{MIGMixed, MIGSingle}, Summary: "strategy of the device plugin"}},
			Suspect: `{node}/gpu0`,
			apply: func(d *draft, t target, f Fault) {
				d.eachNode(t, func(n *Node) { n.MIG = f.Options["strategy"] })
			},
		},
	}
}
