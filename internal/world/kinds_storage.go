package world

// storageFaults are defects of the file system for checkpoints.
func storageFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "checkpoint-volume-full", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the file system for checkpoints is full",
			Options: []FaultOption{{Name: "gib", Default: "3", Min: 0, Max: 15, Summary: "GiB that are left"}},
			Suspect: `(?i)directory for checkpoints`,
			apply:   func(d *draft, _ target, f Fault) { d.Training.CheckpointGiB = f.number("gib") },
		},
		{
			Kind: "checkpoint-read-only", Gate: "training", TargetForm: FormNodeCluster, DefaultTarget: "gpu-03",
			Summary: "the file system for checkpoints is mounted read-only on a node", Suspect: `{node}|(?i)directory for checkpoints`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.CheckpointsReadOnly = true })
			},
		},
		{
			Kind: "checkpoint-not-mounted", Gate: "training", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the file system for checkpoints is not mounted on a node: checkpoints go to the node's own disk", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].CheckpointsUnmounted = true },
		},
	}
}
