package world

import "slices"

// Catalogue lists every fault, by the gate that must fail first; those of the
// autoscaling chain and of conformance, which are no gates of the playbook, come
// last, by their hop or requirement.
func Catalogue() []FaultKind {
	return slices.Concat(facilityFaults(), fabricFaults(), nodeFaults(), hostFaults(), stackFaults(), telemetryFaults(), workloadFaults(), autoscaleFaults(), conformanceFaults(), gatewayFaults())
}

// Variations are not defects: healthy clusters that look different, or ones that
// can't be seen. AddFault takes them too.
func Variations() []FaultKind {
	return []FaultKind{
		{
			Kind: "host-label-lowercase", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "dcgm-exporter spells its host label hostname, as newer releases do",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.Exporter.HostLabel = "hostname" })
			},
		},
		{
			Kind: "honor-labels-off", Variation: true, Expect: "passed", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "Prometheus keeps namespace, pod and container for the scraped pod; whose pod uses a GPU is in exported_namespace, exported_pod and exported_container",
			apply:   func(d *draft, _ target, _ Fault) { d.Autoscale.HonorLabelsOff = true },
		},
		{
			Kind: "dcgm-3", Variation: true, Expect: "passed", TargetForm: FormNodeCluster, DefaultTarget: FormCluster,
			Summary: "dcgmi is of DCGM 3 and prints its other diagnostic document",
			apply: func(d *draft, t target, _ Fault) {
				d.eachNode(t, func(n *Node) { n.DCGMMajor = 3 })
			},
		},
		{
			Kind: "host-unreachable", Variation: true, Expect: "unobserved", TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "a host's SSH server doesn't answer", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].Unreachable = true },
		},
		{
			Kind: "pdu-without-mains", Variation: true, Expect: "unobserved", TargetForm: FormPDU, DefaultTarget: "pdu-r1-b",
			Summary: "a rack PDU's controller tells nothing of its incoming circuits", Suspect: `{pdu}`,
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

// eachNode calls f for the target's node, or for every GPU node of the cluster.
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

// nextGPUNode is the GPU node after one; after the last comes the first.
func (d *draft) nextGPUNode(n int) int { return (n + 1) % len(d.GPUNodes()) }

func (d *draft) gpu(t target) *GPU { return &d.Nodes[t.node].GPUs[t.gpu] }
