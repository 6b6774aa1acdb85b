package world

import "time"

// gate of what only the conformance checks look at.
const conformance = "conformance"

// conformanceFaults are those of how GPUs get into containers, of metrics and of the
// operator, by the requirement whose check must fail.
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
		{
			Kind: "temperature-zero", Gate: conformance, Requirement: "accelerator_metrics", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "dcgm-exporter tells 0 C of every GPU of a node, loaded or not: the metric is there, and is no reading", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.TempZero = true })
			},
		},
		{
			Kind: "service-rule-wrong", Gate: conformance, Requirement: "ai_service_metrics", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the adapter's rules for inference servers ask for series that no server has: what a service says of itself is in Prometheus, and no autoscaler can read it",
			Suspect: `custom\.metrics\.k8s\.io`,
			apply:   func(d *draft, _ target, _ Fault) { d.Autoscale.ServiceRuleWrong = true },
		},
		{
			Kind: "webhook-fails-open", Gate: conformance, Requirement: "robust_controller", Needs: "trainer", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the webhook of Kubeflow Trainer leads to a port where nobody listens, and its failurePolicy is Ignore: a wrong TrainJob is admitted",
			Suspect: `^webhook `,
			apply:   func(d *draft, _ target, _ Fault) { d.Operator.WebhookFailsOpen = true },
		},
		{
			Kind: "controller-stays-down", Gate: conformance, Requirement: "robust_controller", Needs: "trainer", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the controller of Kubeflow Trainer stays ended for minutes when it has died: who is killed in mid-reconcile has no successor",
			Suspect: `^trainjobs |^controller `,
			Options: []FaultOption{{
				Name: "seconds", Default: "200", Min: 1, Max: 86400,
				Summary: "for how long; what it made itself can't be removed before it is back",
			}},
			apply: func(d *draft, _ target, f Fault) {
				d.Operator.Down = time.Duration(f.number("seconds") * float64(time.Second))
			},
		},
	}
}
