package world

// gate of what only the conformance checks look at.
const conformance = "conformance"

// conformanceFaults are those of how GPUs get into containers, by the requirement
// whose check must fail.
func conformanceFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "dra-slice-missing", Gate: conformance, Requirement: "dra_support", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the DRA driver publishes no ResourceSlice of a node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NoSlice = true },
		},
		{
			Kind: "device-leak", Gate: conformance, Requirement: "secure_accelerator_access", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "a container without a claim that sets NVIDIA_VISIBLE_DEVICES=all sees every GPU of its node: the container toolkit accepts the variable from unprivileged pods",
			Suspect: `{node}/container toolkit`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.EnvLeaks = true })
			},
		},
		{
			Kind: "claim-leaks-to-sibling", Gate: conformance, Requirement: "secure_accelerator_access", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "a container that names no claim sees the device of another container of its pod", Suspect: `{node}/DRA driver`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.ClaimLeaks = true })
			},
		},
	}
}
