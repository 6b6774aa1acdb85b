package world

import (
	"slices"
	"time"
)

func workloadFaults() []FaultKind {
	return slices.Concat(collectiveFaults(), trainingFaults(), storageFaults(), inferenceFaults())
}

func trainingFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "mfu-low", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "training runs steadily at a fraction of its usual speed",
			Options: []FaultOption{{Name: "factor", Default: "0.7", Min: 0.01, Max: 0.99, Summary: "fraction of the usual speed"}},
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
			Kind: "gpu-slow-in-lockstep", Gate: "training", TargetForm: FormGPU, DefaultTarget: "gpu-03/gpu5",
			Summary: "a GPU computes slowly at its full clock: all ranks wait for it, so every rank's step times are equal and MFU stays above its limit",
			Options: []FaultOption{{Name: "factor", Default: "0.9", Min: 0.1, Max: 0.9, Summary: "fraction of its speed"}},
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).Speed = f.number("factor") },
		},
		{
			Kind: "power-capped-later", Gate: "training", TargetForm: FormGPU, DefaultTarget: "gpu-01/gpu6",
			Summary: "a rack's power management lowers a GPU's power limit under high load only: at idle and in diagnostics it is the card's default",
			Options: []FaultOption{{Name: "watts", Default: "500", Min: 200, Max: 560, Summary: "power limit under load"}},
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).CapUnderLoad = f.number("watts") },
		},
		{
			Kind: "loss-nan", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "one rank computes a loss of NaN; the trainers reduce it over all ranks, so every rank prints nan",
			Options: []FaultOption{{Name: "step", Default: "20", Min: 1, Max: 100000, Summary: "first step with NaN"}},
			Suspect: `^loss `,
			apply:   func(d *draft, _ target, f Fault) { d.Training.NaNFrom = int(f.number("step")) },
		},
	}
}

func inferenceFaults() []FaultKind {
	return []FaultKind{
		{
			Kind: "vllm-max-model-len", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model's context does not fit the KV cache; the server crash-loops", Suspect: `(?i)max.model.len|KV cache|CrashLoop`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.MaxModelLenBroken = true },
		},
		{
			Kind: "ttft-slow", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the first token is late",
			Options: []FaultOption{{Name: "factor", Default: "15", Min: 1.1, Max: 1000, Summary: "factor of the time to first token"}},
			Suspect: `(?i)ttft|first token`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.TTFTFactor = f.number("factor") },
		},
		{
			Kind: "tpot-slow", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "tokens after the first are slow",
			Options: []FaultOption{{Name: "factor", Default: "12", Min: 1.1, Max: 1000, Summary: "factor of the time per output token"}},
			Suspect: `(?i)tpot|output token`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.TPOTFactor = f.number("factor") },
		},
		{
			Kind: "failed-requests", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "some requests fail with status 500",
			Options: []FaultOption{{Name: "every", Default: "7", Min: 1, Max: 100000, Summary: "every n-th request fails"}},
			Suspect: `(?i)fail|request`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.FailEvery = int(f.number("every")) },
		},
		{
			Kind: "wrong-tokens", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model returns nonsense", Suspect: `(?i)token|golden|prefix|completion`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.WrongTokens = true },
		},
		{
			Kind: "model-revision-other", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "another revision of the model is served under the same name: its greedy answers begin equally and then differ", Suspect: `^tokens of model `,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.OtherRevision = true },
		},
		{
			Kind: "answers-truncated", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model's generation config has max_new_tokens: answers are shorter than requested, and therefore faster",
			Options: []FaultOption{{Name: "tokens", Default: "2", Min: 1, Max: 16, Summary: "maximum tokens of an answer"}},
			Suspect: `^length of answers `,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.MaxTokens = int(f.number("tokens")) },
		},
		{
			Kind: "request-rate-not-sustained", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the server decodes too few requests at once (--max-num-seqs): it sustains a fraction of the rate, and requests wait in its queue",
			Options: []FaultOption{{Name: "seqs", Default: "1", Min: 1, Max: 2, Summary: "concurrent requests"}},
			Suspect: `\(rate\)`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.MaxNumSeqs = int(f.number("seqs")) },
		},
		{
			Kind: "load-image-missing", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the image of the load generator cannot be pulled (client: cluster)", Suspect: `^load of job inference`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.LoadImageMissing = true },
		},
		{
			Kind: "load-evicted", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the kubelet evicts the pod of the load generator while it runs (client: cluster)", Suspect: `^load of job inference`,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.LoadEvicted = true },
		},
		{
			Kind: "load-starved", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the node of the load generator is busy: it does not run for a while, several times a second (client: cluster)",
			Options: []FaultOption{{Name: "ms", Default: "150", Min: 50, Max: 200, Summary: "how long it does not run, in ms"}},
			Suspect: `^load generator on `,
			apply: func(d *draft, _ target, f Fault) {
				d.Inference.LoadStarved = time.Duration(f.number("ms") * float64(time.Millisecond))
			},
		},
		{
			Kind: "service-blocked", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the server can be reached through the API server and not from pods (client: cluster)",
			Options: []FaultOption{{Name: "by", Default: BlockedByDNS, Values: []string{BlockedByDNS, BlockedByPolicy}, Summary: "dns: the name of its Service does not resolve; policy: a NetworkPolicy drops packets"}},
			Suspect: `^Service inference`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.ServiceBlocked = f.Options["by"] },
		},
		{
			Kind: "decoding-pauses", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "each answer pauses in the middle: the mean time per token hides the pause",
			Options: []FaultOption{{Name: "ms", Default: "800", Min: 300, Max: 1000, Summary: "pause in ms"}},
			Suspect: `\(ITL\)`,
			apply: func(d *draft, _ target, f Fault) {
				d.Inference.Pause = time.Duration(f.number("ms") * float64(time.Millisecond))
			},
		},
	}
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
			Summary: "a node's HCAs cannot reach GPU memory (nvidia-peermem is not loaded); traffic goes through the host", Suspect: `{node}`,
			apply: func(d *draft, t target, _ Fault) { d.eachNode(t, func(n *Node) { n.GPUDirect = false }) },
		},
		{
			Kind: "data-corruption", Gate: "collective", TargetForm: FormNodeCluster, DefaultTarget: "gpu-04",
			Summary: "collectives return wrong results (#wrong > 0)", Suspect: `{node}|(?i)wrong`,
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
			Kind: "log-stream-ends", Gate: "collective", Expect: "unobserved", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "a proxy in front of the API server ends the streams of followed logs, and kubelets rotate the logs of containers at a small size (containerLogMaxSize): the beginning of the collective's log is lost",
			Options: []FaultOption{{Name: "kib", Default: "128", Min: 16, Max: 100000, Summary: "the size in KiB"}},
			Suspect: `^pod .+/collective-`,
			apply: func(d *draft, _ target, f Fault) {
				d.ContainerLogs = ContainerLogs{MaxBytes: int64(f.number("kib")) << 10, FollowBytes: 4 << 10}
			},
		},
		{
			Kind: "straggler-node", Gate: "collective", TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "a node is slow and delays all ranks",
			Options: []FaultOption{{Name: "factor", Default: "1.5", Min: 1.01, Max: 100, Summary: "factor of its time"}},
			Suspect: `{node}`,
			apply:   func(d *draft, t target, f Fault) { d.Nodes[t.node].StepFactor = f.number("factor") },
		},
		{
			Kind: "rail-slow", Gate: "collective", TargetForm: FormHCA, DefaultTarget: "gpu-01/mlx5_3", Fabric: InfiniBand,
			Summary: "the leaf switch of a rail forwards at a fraction of its rate under load, for all nodes, with each link at its full rate (a site with `workloads.collective.byRail`)",
			Options: []FaultOption{{Name: "factor", Default: "0.7", Min: 0.05, Max: 0.85, Summary: "fraction of its rate"}},
			Suspect: `^{hca}$`,
			apply: func(d *draft, t target, f Fault) {
				d.Collective.Rails = map[string]float64{d.Nodes[t.node].HCAs[t.hca].Name: f.number("factor")}
			},
		},
		{
			Kind: "nvlink-domain-fallback", Gate: "collective", MultiNode: true, TargetForm: FormNode, DefaultTarget: "gpu-03",
			Summary: "NCCL does not use NVLink between the nodes of the NVLink domain of a node and falls back to the network: their image has NCCL_MNNVL_ENABLE=0 in /etc/nccl.conf (a site with `workloads.collective.byNVLinkDomain`)",
			Suspect: `^NVLink domain {domain}$`,
			apply: func(d *draft, t target, _ Fault) {
				of := d.Nodes[t.node].NVLinkCluster
				d.eachNode(target{cluster: true}, func(n *Node) { n.MNNVLOff = n.MNNVLOff || n.NVLinkCluster == of })
			},
		},
		{
			Kind: "uplinks-oversubscribed", Gate: "collective", TargetForm: FormCluster, DefaultTarget: FormCluster, Fabric: InfiniBand,
			Summary: "routes use a part of the links between leaf and spine switches: an all-to-all is slow, and rings are not (a site with `all-to-all` in `workloads.collective.suite`)",
			Options: []FaultOption{{Name: "factor", Default: "0.4", Min: 0.05, Max: 0.6, Summary: "part of the links in use"}},
			Suspect: `^cluster \(all-to-all\)$`,
			apply:   func(d *draft, _ target, f Fault) { d.Collective.Uplinks = f.number("factor") },
		},
	}
}
