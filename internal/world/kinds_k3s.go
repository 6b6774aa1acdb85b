package world

// K3s is the distribution of a lab of spine k3s.
const K3s = "k3s"

// K3sCluster has the faults of a cluster of k3s; nodes have their own.
type K3sCluster struct {
	// SocketUnset: the container toolkit of the GPU Operator has no CONTAINERD_SOCKET.
	SocketUnset bool
	// ConfigOfHost: its CONTAINERD_CONFIG is the file of the hosts' own containerd.
	ConfigOfHost bool
	// NotReady is the packaged component whose pods are not ready; empty: none.
	NotReady string
}

func k3sFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "k3s-toolkit-socket", Gate: "gpustack", Distribution: K3s, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine k3s: the container toolkit of the GPU Operator has no CONTAINERD_SOCKET: it restarts the containerd that Docker has installed on the hosts, and reports success",
			Suspect: `^ClusterPolicy cluster-policy/toolkit$`,
			apply:   func(d *draft, _ target, _ Fault) { d.K3s.SocketUnset = true },
		},
		{
			Kind: "k3s-toolkit-config", Gate: "gpustack", Distribution: K3s, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine k3s: the container toolkit of the GPU Operator configures /etc/containerd/config.toml, which k3s does not read", Suspect: `^ClusterPolicy cluster-policy/toolkit$`,
			apply: func(d *draft, _ target, _ Fault) { d.K3s.ConfigOfHost = true },
		},
		{
			Kind: "k3s-foreign-node", Gate: "gpustack", Distribution: K3s, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "spine k3s: a node was joined with a kubelet of Kubernetes and a containerd of its host, not with the agent of k3s", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].NotK3s = true },
		},
		{
			Kind: "k3s-agent-newer", Gate: "gpustack", Distribution: K3s, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "spine k3s: the agent of a node is one minor version newer than the servers: it was upgraded before them", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].MinorsNewer = 1 },
		},
		{
			Kind: "k3s-agent-outdated", Gate: "gpustack", Distribution: K3s, TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "spine k3s: the agent of a node was left out of upgrades, and is four minor versions older than the servers", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].MinorsNewer = -4 },
		},
		{
			Kind: "k3s-host-containerd", Gate: "gpustack", Distribution: K3s, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "spine k3s: the agent of a node uses the containerd of its host (--container-runtime-endpoint), which the container toolkit does not configure", Suspect: `^{node}$`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].HostContainerd = true },
		},
		{
			Kind: "k3s-component-not-ready", Gate: "gpustack", Distribution: K3s, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine k3s: the pods of a packaged component are not ready",
			Options: []FaultOption{{
				Name: "component", Default: "metrics-server", Summary: "packaged component",
				Values: []string{"coredns", "local-path-provisioner", "metrics-server", "traefik", "svclb-traefik"},
			}},
			Suspect: `^(Deployment|DaemonSet) kube-system/`,
			apply:   func(d *draft, _ target, f Fault) { d.K3s.NotReady = f.Options["component"] },
		},
	}
}
