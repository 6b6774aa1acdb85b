package world

func efaFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "efa-missing", Gate: "fabric", Fabric: EFA, TargetForm: FormHCA, DefaultTarget: "gpu-02/rdmap82s0",
			Summary: "an instance was launched without one of its Elastic Fabric Adapters", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].EFAMissing = d.hca(t).Name },
		},
		{
			Kind: "efa-driver-mixed", Gate: "fabric", Fabric: EFA, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a host has another version of the EFA driver", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) {
				d.Nodes[t.node].EFADriver = d.Nodes[t.node].Hardware.Fabric.EFA.OtherDriver
			},
		},
	}
}
