package world

import (
	"slices"
	"time"
)

func workloadFaults() []FaultKind {
	return slices.Concat(collectiveFaults(), trainingFaults(), inferenceFaults())
}

func trainingFaults() []FaultKind {
	return []FaultKind{
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
			Kind: "gpu-slow-in-lockstep", Gate: "training", TargetForm: FormGPU, DefaultTarget: "gpu-03/gpu5",
			Summary: "a GPU computes slowly at its full clock: all ranks wait for it, so that every rank's step times are alike and MFU stays above its limit",
			Options: []FaultOption{{Name: "factor", Default: "0.9", Min: 0.1, Max: 0.9, Summary: "what is left of its speed"}},
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).Speed = f.number("factor") },
		},
		{
			Kind: "power-capped-later", Gate: "training", TargetForm: FormGPU, DefaultTarget: "gpu-01/gpu6",
			Summary: "a rack's power management lowers a GPU's power limit when it draws much, and raises it again: idle and in diagnostics the limit is the card's own",
			Options: []FaultOption{{Name: "watts", Default: "500", Min: 200, Max: 560, Summary: "the limit under load"}},
			Suspect: `{node}.*{gpu}`,
			apply:   func(d *draft, t target, f Fault) { d.gpu(t).CapUnderLoad = f.number("watts") },
		},
		{
			Kind: "loss-nan", Gate: "training", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "one rank computes a loss that is no number; the trainers reduce it over all ranks, so that every rank prints nan",
			Options: []FaultOption{{Name: "step", Default: "20", Min: 1, Max: 100000, Summary: "the first step"}},
			Suspect: `^loss `,
			apply:   func(d *draft, _ target, f Fault) { d.Training.NaNFrom = int(f.number("step")) },
		},
	}
}

func inferenceFaults() []FaultKind {
	return []FaultKind{
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
		{
			Kind: "model-revision-other", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "another revision of the model is served under the same name: its greedy answers begin alike and go on otherwise", Suspect: `^tokens of model `,
			apply: func(d *draft, _ target, _ Fault) { d.Inference.OtherRevision = true },
		},
		{
			Kind: "answers-truncated", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the model's generation config has max_new_tokens: answers are shorter than requests ask for, and so faster",
			Options: []FaultOption{{Name: "tokens", Default: "2", Min: 1, Max: 16, Summary: "what an answer may have"}},
			Suspect: `^length of answers `,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.MaxTokens = int(f.number("tokens")) },
		},
		{
			Kind: "request-rate-not-sustained", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "the server decodes too few requests at once (--max-num-seqs): it sustains a fraction of the rate, and requests wait in its queue",
			Options: []FaultOption{{Name: "seqs", Default: "1", Min: 1, Max: 2, Summary: "how many at once"}},
			Suspect: `\(rate\)`,
			apply:   func(d *draft, _ target, f Fault) { d.Inference.MaxNumSeqs = int(f.number("seqs")) },
		},
		{
			Kind: "decoding-pauses", Gate: "inference", TargetForm: FormCluster, DefaultTarget: FormCluster,
			Summary: "each answer stops for a while in its middle: its mean time per token hides it",
			Options: []FaultOption{{Name: "ms", Default: "800", Min: 300, Max: 1000, Summary: "for how long"}},
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
			Summary: "a node's HCAs can't reach GPU memory (nvidia-peermem is not loaded); traffic goes through the host", Suspect: `{node}`,
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
