package world

func workloadFaults() []FaultKind {
	return append(collectiveFaults(), []FaultKind{
		{
			Kind: "mfu-low", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "training reaches a fraction of its usual speed, steadily",
			Options: []FaultOption{{Name: "factor", Default: "0.7", Min: 0.01, Max: 0.99, Summary: "what is left of it"}},
			Suspect: `(?i)mfu`,
			apply:   func(d *draft, _ target, f Fault) { d.Training.MFUFactor = f.number("factor") },
		},
		{
			Kind: "step-unstable", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "training step times vary",
			Options: []FaultOption{{Name: "jitter", Default: "0.25", Min: 0.01, Max: 2, Summary: "relative amplitude"}},
			Suspect: `(?i)step`,
			apply:   func(d *draft, _ target, f Fault) { d.Training.StepJitter = f.number("jitter") },
		},
		{
			Kind: "vllm-max-model-len", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model's context doesn't fit the KV cache; the server crash-loops", Suspect: `(?i)max.model.len|KV cache|CrashLoop`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.MaxModelLenBroken = true },
		},
		{
			Kind: "ttft-slow", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the first token comes late",
			Options: []FaultOption{{Name: "factor", Default: "15", Min: 1.1, Max: 1000, Summary: "how much later"}},
			Suspect: `(?i)ttft|first token`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.TTFTFactor = f.number("factor") },
		},
		{
			Kind: "tpot-slow", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "tokens after the first come slowly",
			Options: []FaultOption{{Name: "factor", Default: "12", Min: 1.1, Max: 1000, Summary: "how much slower"}},
			Suspect: `(?i)tpot|output token`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.TPOTFactor = f.number("factor") },
		},
		{
			Kind: "failed-requests", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "some requests fail with status 500",
			Options: []FaultOption{{Name: "every", Default: "7", Min: 1, Max: 100000, Summary: "one of so many"}},
			Suspect: `(?i)fail|request`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.FailEvery = int(f.number("every")) },
		},
		{
			Kind: "wrong-tokens", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model answers nonsense", Suspect: `(?i)token|golden|prefix|completion`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.WrongTokens = true },
		},
	}...)
}

func collectiveFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "nvls-lost", Gate: "collective", TargetForm: FormNodeCluster, DefaultTarget: "gpu-02",
			Summary: "NVLink SHARP is not available on a node", Suspect: `{node}|NVLS`,
			apply: func(d *draft, t target, _ Fault) { d.eachNode(t, func(n *Node) { n.NVLS = false }) },
		},
		{
			Kind: "tcp-fallback", Gate: "collective", TargetForm: FormNodeCluster, DefaultTarget: "gpu-03",
			Summary: "NCCL finds no InfiniBand on a node and falls back to sockets", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.eachNode(t, func(n *Node) { n.Transport = TransportSocket }) },
		},
		{
			Kind: "no-gpudirect", Gate: "collective", TargetForm: FormNodeCluster, DefaultTarget: "gpu-03",
			Summary: "a node's HCAs can't reach GPU memory; traffic goes through the host", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.eachNode(t, func(n *Node) { n.GPUDirect = false }) },
		},
		{
			Kind: "data-corruption", Gate: "collective", TargetForm: FormNodeCluster, DefaultTarget: "gpu-04",
			Summary: "collectives give wrong results (#wrong > 0)", Suspect: `{node}|(?i)wrong`,
			apply: func(d *draft, t target, _ Fault) {
				d.Collective.DataCorruption = d.Collective.DataCorruption || t.cluster
				d.eachNode(t, func(n *Node) { n.DataCorruption = true })
			},
		},
		{
			Kind: "truncated-run", Gate: "collective", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the collective's output stops in the middle of the table, exit code 0", Suspect: `(?i)truncat|footer|incomplete|size`,
			apply: func(d *draft, _ target, _ Fault) { d.Collective.Truncated = true },
		},
		{
			Kind: "straggler-node", Gate: "collective", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node is slow and holds up whoever waits for it",
			Options: []FaultOption{{Name: "factor", Default: "1.5", Min: 1.05, Max: 100, Summary: "how much longer it takes"}},
			Suspect: `{node}`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].StepFactor = f.number("factor") },
		},
	}
}
