package world

// nodeObjectFaults returns the faults of gate gpustack that a Ready node shows by its taints and conditions.
func nodeObjectFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "node-tainted", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "an autoscaler has tainted a Ready node for deletion (ToBeDeletedByClusterAutoscaler) and did not delete it", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].ToBeDeleted = true },
		},
		{
			Kind: "node-kernel-deadlock", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "node-problem-detector reports a deadlock of the kernel of a Ready node (condition KernelDeadlock)", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].KernelDeadlock = true },
		},
	}
}
