package world

import "time"

// StackReal is the GPU stack whose operator is NVIDIA's own.
const StackReal = "real"

func stackFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "rdma-resource-missing", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "the RDMA device plugin advertises no devices on a node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].RDMACount = 0 },
		},
		{
			Kind: "operator-operand-not-ready", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a pod of one of the GPU Operator's operands is not ready on a node",
			Options: []FaultOption{{
				Name: "operand", Default: "nvidia-device-plugin-daemonset", Summary: "operand's DaemonSet",
				Values: []string{"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter", "gpu-feature-discovery", "nvidia-operator-validator"},
			}},
			Suspect: `{node}|state-|daemonset|exporter|discovery|validator`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].OperandNotReady = f.Options["operand"] },
		},
		{
			Kind: "gpu-operator-down", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the GPU Operator does not run; the status that it has written remains", Suspect: `gpu-operator`,
			apply: func(d *draft, _ target, _ Fault) { d.GPUOperatorDown = true },
		},
		{
			Kind: "nfd-labels-missing", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "node feature discovery does not find the GPUs of a node; the operator runs no operands there", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NFDLabelsMissing = true },
		},
		{
			Kind: "mig-half-applied", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a requested MIG configuration was applied to a part of a node's GPUs; the device plugin refuses the mixture", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].MIGHalfApplied = true },
		},
		{
			Kind: "device-plugin-twice", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "a second device plugin of NVIDIA, installed by hand in kube-system, runs on every node: both register nvidia.com/gpu",
			Suspect: `gpu-\d+/device plugins`,
			apply:   func(d *draft, _ target, _ Fault) { d.DevicePluginTwice = true },
		},
		{
			Kind: "dra-only", Gate: "gpustack", TargetForm: FormNodeCluster, DefaultTarget: "gpu-03",
			Summary: "the device plugin offers no GPUs: they are offered through dynamic resource allocation only, which the lab's site does not declare",
			Suspect: `{node}/nvidia.com/gpu`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.DRAOnly = true })
			},
		},
		{
			Kind: "dra-class-mismatch", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the DeviceClass gpu.nvidia.com selects GPUs of another product: none of its claims can be allocated, though ResourceSlices offer every GPU (needs dra-only on the cluster, and a site file that declares the class)",
			Suspect: `DeviceClass gpu.nvidia.com`,
			apply:   func(d *draft, _ target, _ Fault) { d.DRAClassMismatch = true },
		},
		{
			Kind: "cuda-validation-failed", Gate: "gpustack", Stack: StackReal, TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "the CUDA workload of the operator's validator fails on a node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].CUDAValidationFails = true },
		},
		{
			Kind: "driver-upgrade-pending", Gate: "gpustack", Stack: StackReal, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the ClusterPolicy names another driver version, and the nodes still run the former one", Suspect: `nvidia-driver-daemonset|cluster-policy`,
			apply: func(d *draft, _ target, _ Fault) { d.DriverUpgradePending = true },
		},
		{
			Kind: "image-digest-mixed", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a pod of one of the GPU Operator's operands runs a different image under the same tag than on the other nodes",
			Options: []FaultOption{{
				Name: "operand", Default: "nvidia-device-plugin-daemonset", Summary: "operand's DaemonSet",
				Values: []string{"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset", "nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter", "gpu-feature-discovery", "nvidia-operator-validator"},
			}},
			Suspect: `{node}/`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].OperandRepushed = f.Options["operand"] },
		},
		{
			Kind: "disk-pressure", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "a node's kubelet has disk pressure; the control plane taints the node", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].DiskPressure = true },
		},
		{
			Kind: "dns-broken", Gate: "gpustack", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "pods of a node cannot resolve names: the cluster's DNS is unreachable", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NoDNS = true },
		},
		{
			Kind: "zero-gpu-nodes", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "node feature discovery labels no GPU node; the operator is ready without operands", Suspect: `NoGPUNodes|NFDLabelsMissing|(?i)cluster-?policy`,
			apply: func(d *draft, _ target, _ Fault) { d.ZeroGPUNodes = true },
		},
		{
			Kind: "no-gang-scheduler", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the cluster has no gang scheduler", Suspect: `(?i)gang`,
			apply: func(d *draft, _ target, _ Fault) { d.NoGangScheduler = true },
		},
		{
			Kind: "half-gang", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the gang API exists, but the scheduler binds part of a gang: Kubernetes' own ignores it, Volcano lacks its plugin gang and action enqueue, Kueue's quota is above the GPUs of the cluster", Suspect: `(?i)gang`,
			apply: func(d *draft, _ target, _ Fault) { d.HalfGang = true },
		},
		{
			Kind: "queue-closed", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the queue default-queue admits no GPUs: KAI's and Volcano's by a limit of 0, Kueue's is stopped (needs a lab with one of them, and a site file that names it)",
			Suspect: `gang scheduler (kai|volcano|kueue), queue default-queue`,
			apply:   func(d *draft, _ target, _ Fault) { d.QueueClosed = true },
		},
		{
			Kind: "kueue-down", Gate: "gpustack", Needs: "kueue", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Kueue does not run: its webhook, which the API server calls for every job, does not answer",
			Suspect: `webhook .* of service kueue-system/kueue-webhook-service`,
			apply:   func(d *draft, _ target, _ Fault) { d.KueueDown = true },
		},
		{
			Kind: "job-operators-down", Gate: "gpustack", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the operators of job kinds do not run: JobSet, Kubeflow Trainer, MPI Operator, Volcano's controllers (needs a lab with one of them, and a site file that names its kind)",
			Suspect: `controller of (mpijobs|jobs|jobsets|trainjobs)\.|webhook .* of service (jobset|kubeflow)-system/`,
			apply:   func(d *draft, _ target, _ Fault) { d.JobOperatorsDown = true },
		},
	}
}

func telemetryFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "exporter-down", Gate: "telemetry", Hop: "series", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a node's dcgm-exporter does not respond", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Exporter.Down = true },
		},
		{
			Kind: "stale-series", Gate: "telemetry", Hop: "series", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's dcgm-exporter serves old samples with their old timestamps", Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) { d.Nodes[t.node].Exporter.StaleSince = f.Since },
		},
		{
			Kind: "host-label-dropped", Gate: "telemetry", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "series lack the label of their host", Suspect: `(?i)host`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.HostLabelDropped = true })
			},
		},
		{
			Kind: "exporter-hosts-swapped", Gate: "telemetry", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "the dcgm-exporters of a node and the next one report each other's host name",
			Options: []FaultOption{{
				Name: "scrape", Default: "without-node", Values: []string{"without-node", "with-node"},
				Summary: "whether Prometheus labels targets with their node, which shows the swap without a load",
			}},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				other := d.nextGPUNode(t.node)
				a, b := &d.Nodes[t.node], &d.Nodes[other]
				a.Exporter.HostName, b.Exporter.HostName = b.Name, a.Name
				d.NodeLabelOff = f.Options["scrape"] == "without-node"
			},
		},
		{
			Kind: "exporter-pod-mapping-wrong", Gate: "telemetry", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's dcgm-exporter attributes a GPU's pod to the next GPU's series", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Exporter.PodShift = true },
		},
		{
			Kind: "samples-from-the-future", Gate: "telemetry", TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "a node's dcgm-exporter has timestamps an hour ahead; Prometheus rejects samples more than ten minutes ahead", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Exporter.Ahead = time.Hour },
		},
		{
			Kind: "prometheus-replica-stale", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "a second Prometheus, which scrapes nothing, alternates with the first one, as behind a Service", Suspect: `(?i)prometheus`,
			apply: func(d *draft, _ target, _ Fault) { d.PrometheusReplicaStale = true },
		},
		{
			Kind: "oncall-silent", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the webhook of the receiver on-call refuses connections, while another receiver is notified every second",
			Suspect: `receiver on-call`,
			apply:   func(d *draft, _ target, _ Fault) { d.OnCallSilent = true },
		},
		{
			Kind: "rules-not-selected", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Prometheus' ruleSelector selects no PrometheusRule: no alert rule is evaluated", Suspect: `PrometheusRule`,
			apply: func(d *draft, _ target, _ Fault) { d.RulesUnselected = true },
		},
		{
			Kind: "rules-frozen", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "changes and removals of PrometheusRules do not reach Prometheus, new ones do: alerts do not resolve", Suspect: `PrometheusRule`,
			apply: func(d *draft, _ target, _ Fault) { d.RulesFrozen = true },
		},
		{
			Kind: "alert-label-dropped", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Prometheus sends alerts without the label severity, by which Alertmanager routes them to on-call", Suspect: `Prometheus`,
			apply: func(d *draft, _ target, _ Fault) { d.AlertLabelDropped = true },
		},
		{
			Kind: "prometheus-shared", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Prometheus also has the series of another cluster, with another value of the label cluster", Suspect: `other-gpu-\d+`,
			apply: func(d *draft, _ target, _ Fault) { d.PrometheusShared = true },
		},
		{
			Kind: "exporters-not-scraped", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Prometheus has no targets for the dcgm-exporters", Suspect: `(?i)prometheus`,
			apply: func(d *draft, _ target, _ Fault) { d.ExportersUnscraped = true },
		},
		{
			Kind: "alert-route-missing", Gate: "telemetry", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Alertmanager routes alerts to a receiver without a notifier", Suspect: `(?i)alert|receiver|route`,
			apply: func(d *draft, _ target, _ Fault) { d.AlertRouteMissing = true },
		},
	}
}
