package world

import (
	"slices"
	"strings"
)

// Catalogue returns every fault, ordered by the gate that must fail first. Faults of the
// autoscaling chain and of conformance follow, by hop or requirement.
func Catalogue() []FaultKind {
	return slices.Concat(facilityFaults(), fabricFaults(), roceFaults(), efaFaults(), nodeFaults(), nvlinkFabricFaults(), imexFaults(), hostFaults(), stackFaults(), nodeObjectFaults(), rayFaults(), k3sFaults(), telemetryFaults(), workloadFaults(), autoscaleFaults(), conformanceFaults(), gatewayFaults())
}

// Variations returns healthy clusters that look different, and clusters that cannot be observed.
// AddFault accepts them too.
func Variations() []FaultKind {
	return []FaultKind{
		{
			Kind: "host-label-lowercase", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "dcgm-exporter names its host label hostname, as newer releases do",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.HostLabel = "hostname" })
			},
		},
		{
			Kind: "honor-labels-off", Variation: true, Expect: "passed", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the labels namespace, pod and container are those of the scraped pod; the pod that uses a GPU is in exported_namespace, exported_pod and exported_container",
			apply:   func(d *draft, _ target, _ Fault) { d.Autoscale.HonorLabelsOff = true },
		},
		{
			Kind: "dcgm-3", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "dcgmi is version 3, whose diagnostic JSON differs",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.DCGMMajor = 3 })
			},
		},
		{
			Kind: "driver-in-pods", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "hosts have no nvidia-smi and dcgmi: they are in the GPU Operator's driver and DCGM pods",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.ToolsInPods = true })
			},
		},
		{
			Kind: "inbox-drivers", Variation: true, Expect: "unobserved", Fabric: RoCE, TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "adapters have the kernel's own drivers: no mlnx_qos, and no file that tells whether ECN is enabled", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.InboxDrivers = true })
			},
		},
		{
			Kind: "operating-system", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "hosts have another operating system",
			Options: []FaultOption{{Name: "image", Default: "ubuntu-24.04", Values: osNames(), Summary: "operating system"}},
			apply: func(d *draft, t target, f Fault) {
				if os, err := loadOS(f.Options["image"]); err == nil { // AddFault has checked the name
					d.eachNode(t, func(n *Node) {
						n.OS = os
						n.OS.Kernel = strings.Replace(os.Kernel, "x86_64", n.Machine(), 1)
					})
				}
			},
		},
		{
			Kind: "os-labels-missing", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "node feature discovery does not label the operating system",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.NoOSLabels = true })
			},
		},
		{
			Kind: "container-log-rotated", Variation: true, Expect: "passed", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "kubelets rotate the logs of containers at a small size (containerLogMaxSize), as they do at 10Mi with the log of a large collective: without following, only the end of such a log can be read",
			Options: []FaultOption{{Name: "kib", Default: "128", Min: 16, Max: 100000, Summary: "the size in KiB"}},
			apply:   func(d *draft, _ target, f Fault) { d.ContainerLogs.MaxBytes = int64(f.number("kib")) << 10 },
		},
		{
			Kind: "host-unreachable", Variation: true, Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a host's SSH server does not respond", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Unreachable = true },
		},
		{
			Kind: "pdu-without-mains", Variation: true, Expect: "unobserved", TargetForm: FormPDU, DefaultTarget: "pdu-r1-b",
			Summary: "a rack PDU's controller has no resource for its mains", Suspect: `{pdu}`,
			apply: func(d *draft, t target, _ Fault) { d.Facility.PDUs[t.pdu].NoMains = true },
		},
	}
}

func findKind(name string) (FaultKind, bool) {
	all := append(Catalogue(), Variations()...)
	i := slices.IndexFunc(all, func(k FaultKind) bool { return k.Kind == name })
	if i < 0 {
		return FaultKind{}, false
	}
	return all[i], true
}

func kindNames() []string {
	var names []string
	for _, k := range append(Catalogue(), Variations()...) {
		names = append(names, k.Kind)
	}
	return names
}

// eachNode calls f for the target's node, or for every GPU node when the target is the cluster.
func (d *draft) eachNode(t target, f func(*Node)) {
	if !t.cluster {
		f(&d.Nodes[t.node])
		return
	}
	for i := range d.Nodes {
		if !d.Nodes[i].System {
			f(&d.Nodes[i])
		}
	}
}

// nextGPUNode returns the index of the next GPU node, cyclically.
func (d *draft) nextGPUNode(n int) int { return (n + 1) % len(d.GPUNodes()) }

func (d *draft) gpu(t target) *GPU { return &d.Nodes[t.node].GPUs[t.gpu] }
