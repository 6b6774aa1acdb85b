package world

// FabricManager is the fabric manager of a node's NVSwitches; zero without NVSwitches.
type FabricManager struct {
	Version string // of its program
	// Stopped: it does not run. NeverStarted: it has not run since boot, so that no GPU has joined
	// the fabric.
	Stopped, NeverStarted bool
}

// fabricManagerOf returns a running manager of the driver's version.
func fabricManagerOf(hw Hardware) FabricManager {
	if hw.GPU.NVLinks == 0 || hw.Node.NVLinkDomain > 0 {
		return FabricManager{}
	}
	return FabricManager{Version: hw.Software.Driver}
}

// nvlinkFabricFaults returns the faults of gate node that are defects of the fabric of NVSwitches.
func nvlinkFabricFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "fabric-manager-down", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's fabric manager does not run",
			Options: []FaultOption{{Name: "how", Default: "stopped", Values: []string{"stopped", "never-started"}, Summary: "stopped after the GPUs have joined the NVLink fabric, or not started since boot: NVLS is lost"}},
			Suspect: `{node}`,
			apply: func(d *draft, t target, f Fault) {
				n := &d.Nodes[t.node]
				n.FabricManager.Stopped = true
				if f.Options["how"] == "never-started" {
					n.FabricManager.NeverStarted, n.NVLS = true, false
				}
			},
		},
		{
			Kind: "fabric-manager-version", Gate: "node", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node's fabric manager is of another version than the driver", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) {
				n := &d.Nodes[t.node]
				n.FabricManager.Version = n.Hardware.Software.OtherDriver
			},
		},
		{
			Kind: "nvlink-fabric-degraded", Gate: "node", TargetForm: FormGPU, DefaultTarget: "gpu-04/gpu0",
			Summary: "a GPU has joined the NVLink fabric, which is not healthy",
			Options: []FaultOption{{Name: "how", Default: "bandwidth", Values: []string{"bandwidth", "route"}, Summary: "a part of the bandwidth is lost, or a route is unhealthy"}},
			Suspect: `{node}.*{gpu}`,
			apply: func(d *draft, t target, f Fault) {
				health := map[string]string{"summary": "Limited Capacity", "bandwidth": "Degraded"}
				if f.Options["how"] == "route" {
					health = map[string]string{"summary": "Unhealthy", "route_unhealthy": "True"}
				}
				d.gpu(t).FabricHealth = health
			},
		},
	}
}
