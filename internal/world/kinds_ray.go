package world

// Ray has the faults of the lab's RayCluster, which is of the extra ray.
type Ray struct {
	// OperatorDown: the KubeRay operator does not run.
	OperatorDown bool
	// GroupShort: the worker group has one replica less than the cluster has GPU nodes.
	GroupShort bool
	// HeadRestarting: the head's container ends again and again.
	HeadRestarting bool
}

// needsRay is the extra with KubeRay and the lab's RayCluster.
const needsRay = "ray"

func rayFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "kuberay-operator-down", Gate: "gpustack", Needs: needsRay, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine ray: the KubeRay operator does not run; the status of the RayCluster that it has written remains", Suspect: `kuberay-operator`,
			apply: func(d *draft, _ target, _ Fault) { d.Ray.OperatorDown = true },
		},
		{
			Kind: "ray-group-short", Gate: "gpustack", Needs: needsRay, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine ray: the worker group of the RayCluster has one replica less than the cluster has GPU nodes; KubeRay reports it ready", Suspect: `worker group gpu`,
			apply: func(d *draft, _ target, _ Fault) { d.Ray.GroupShort = true },
		},
		{
			Kind: "ray-worker-not-ready", Gate: "gpustack", Needs: needsRay, TargetForm: FormNode, DefaultTarget: "gpu-02",
			Summary: "spine ray: the raylet of a worker does not start, and its pod does not become ready; KubeRay's state remains ready", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].RayNotReady = true },
		},
		{
			Kind: "ray-gpus-short", Gate: "gpustack", Needs: needsRay, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "spine ray: the container of a worker has one GPU less than its pod requests; Ray offers all, as KubeRay passes the request as num-gpus", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].RayGPUsShort = true },
		},
		{
			Kind: "ray-bundle-not-committed", Gate: "gpustack", Needs: needsRay, TargetForm: FormNode, DefaultTarget: "gpu-04",
			Summary: "spine ray: the raylet of a worker does not commit the bundle of a placement group: half of the group is placed, and Ray reschedules it indefinitely", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.Nodes[t.node].RayCommitFails = true },
		},
		{
			Kind: "ray-head-restarting", Gate: "gpustack", Needs: needsRay, TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "spine ray: the container of the Ray head ends again and again; KubeRay's state remains ready", Suspect: `head of RayCluster`,
			apply: func(d *draft, _ target, _ Fault) { d.Ray.HeadRestarting = true },
		},
	}
}
