package world

import "time"

const conformance = "conformance"

// conformanceFaults returns the faults of GPU allocation, metrics and the operator, by the
// requirement whose check must fail.
func conformanceFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "dra-slice-missing", Gate: conformance, Requirement: "dra_support", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the DRA driver publishes no ResourceSlice for a node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NoSlice = true },
		},
		{
			Kind: "plugin-only", Gate: conformance, Requirement: "dra_support", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "no DRA driver is installed: the device plugin alone offers GPUs, which the lab's site does not declare",
			Suspect: `DeviceClass gpu.nvidia.com`,
			apply:   func(d *draft, _ target, _ Fault) { d.NoDRADriver = true },
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
			Summary: "a container without a claim sees the device of another container of its pod", Suspect: `{node}/DRA driver`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.ClaimLeaks = true })
			},
		},
		{
			Kind: "temperature-zero", Gate: conformance, Requirement: "accelerator_metrics", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "dcgm-exporter reports 0 C for every GPU of a node under any load: the metric exists and is not a measurement", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.TempZero = true })
			},
		},
		{
			Kind: "service-rule-wrong", Gate: conformance, Requirement: "ai_service_metrics", Needs: "adapter", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the adapter's rules for inference servers query series that no server exports: the service's metrics are in Prometheus, but not in the metrics API",
			Suspect: `custom\.metrics\.k8s\.io`,
			apply:   func(d *draft, _ target, _ Fault) { d.Autoscale.ServiceRuleWrong = true },
		},
		{
			Kind: "webhook-fails-open", Gate: conformance, Requirement: "robust_controller", Needs: "trainer", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the webhook of Kubeflow Trainer points at a closed port with failurePolicy Ignore: an invalid TrainJob is admitted",
			Suspect: `^webhook `,
			apply:   func(d *draft, _ target, _ Fault) { d.Operator.WebhookFailsOpen = true },
		},
		{
			Kind: "controller-stays-down", Gate: conformance, Requirement: "robust_controller", Needs: "trainer", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the controller of Kubeflow Trainer does not restart for minutes after it died: nothing continues an interrupted reconcile",
			Suspect: `^trainjobs |^controller `,
			Options: []FaultOption{{
				Name: "seconds", Default: "200", Min: 1, Max: 86400,
				Summary: "downtime in seconds; its own objects cannot be removed before it is back",
			}},
			apply: func(d *draft, _ target, f Fault) {
				d.Operator.Down = time.Duration(f.number("seconds") * float64(time.Second))
			},
		},
	}
}
