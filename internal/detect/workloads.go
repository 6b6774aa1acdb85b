package detect

import "github.com/firstlight/firstlight/internal/site"

// workloads writes the jobs of gates 6 to 8: choices, with the values of the example. Images of
// registries that every cluster reaches are defaults, others are missing.
func workloads(p *page, example *site.Site, nodes int) {
	c, t, i := example.Workloads.Collective, example.Workloads.Training, example.Workloads.Inference
	p.gap()
	p.note(0, "What gates run is a choice. The defaults are those of firstlight site init.")
	p.key(0, "workloads")
	p.key(2, "collective")
	p.set(4, "image", todo("", "an image with nccl-tests, mpirun and sshd that the nodes can pull"))
	p.set(4, "timeout", byDefault(c.Timeout.D().String(), "of a run"))
	p.key(2, "training")
	p.set(4, "image", todo("", "an image with the framework that the nodes can pull"))
	p.set(4, "framework", byDefault(t.Framework, "or megatron"))
	p.set(4, "model", byDefault(t.Model, "as the framework names it"))
	p.set(4, "nodes", byDefault(nodes, "all GPU nodes"))
	p.set(4, "steps", byDefault(t.Steps, "the floor of firstlight"))
	p.set(4, "timeout", byDefault(t.Timeout.D().String(), "of a run"))
	p.note(4, "checkpoint: {directory: /mnt/checkpoints, sizeGiB: 16} proves that jobs can write checkpoints")
	p.key(2, "inference")
	p.set(4, "image", byDefault(i.Image, "your nodes must be able to pull it"))
	p.set(4, "model", byDefault(i.Model, "your nodes must be able to load it"))
	p.set(4, "gpus", byDefault(i.GPUs, "of the server"))
	p.set(4, "maxModelLen", byDefault(i.MaxModelLen, "tokens"))
	p.set(4, "prompt", byDefault(i.Prompt, "of the completion that is compared"))
	p.set(4, "goldenPrefix", todo(i.GoldenPrefix, "the beginning of the greedy completion of a known-good server of this model"))
	p.set(4, "rate", byDefault(i.Rate, "requests a second"))
	p.set(4, "concurrency", byDefault(i.Concurrency, "requests at a time"))
	p.set(4, "requests", byDefault(i.Requests, "in all"))
	p.set(4, "warmup", byDefault(i.Warmup, "requests that are not measured"))
	p.set(4, "inputTokens", byDefault(i.InputTokens, "of a request"))
	p.set(4, "outputTokens", byDefault(i.OutputTokens, "of a request"))
	p.set(4, "timeout", byDefault(i.Timeout.D().String(), "of a run"))
}
