package detect

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// toleration is a corev1.Toleration as the site file has it.
type toleration struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"`
	Value    string `yaml:"value,omitempty"`
	Effect   string `yaml:"effect"`
}

// tolerations are those that pods need for GPU nodes beyond that of the GPU's own taint, which
// gates have.
func tolerations(k names, machines []machine) []toleration {
	var out []toleration
	for _, m := range machines {
		for _, t := range keepsAway(k, m.node) {
			of := toleration{Key: t.Key, Operator: string(corev1.TolerationOpEqual), Value: t.Value, Effect: string(t.Effect)}
			if t.Value == "" {
				of.Operator = string(corev1.TolerationOpExists)
			}
			if t.Key != kube.GPUResource && !slices.Contains(out, of) {
				out = append(out, of)
			}
		}
	}
	slices.SortFunc(out, func(a, b toleration) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value), strings.Compare(a.Effect, b.Effect))
	})
	return out
}

// workloads writes the jobs of gates 6 to 8: choices, with the values of the example. Images of
// registries that every cluster reaches are defaults, others are missing.
func workloads(k names, p *page, example *site.Site, machines []machine) {
	c, t, i := example.Workloads.Collective, example.Workloads.Training, example.Workloads.Inference
	p.gap()
	p.note(0, "The jobs of gates are a choice. The defaults are those of firstlight site init.")
	p.key(0, "workloads")
	if needed := tolerations(k, machines); len(needed) > 0 {
		p.key(2, "pod")
		p.key(4, "spec")
		p.set(6, "tolerations", seen(needed, "taints of GPU nodes; added to the pods of every gate"))
	}
	p.key(2, "collective")
	p.set(4, "image", todo("", "an image with nccl-tests, mpirun and sshd that the nodes can pull"))
	p.set(4, "timeout", byDefault(c.Timeout.D().String(), "of a run"))
	p.key(2, "training")
	p.set(4, "image", todo("", "an image with the framework that the nodes can pull"))
	p.set(4, "framework", byDefault(t.Framework, "or megatron"))
	p.set(4, "model", byDefault(t.Model, "as the framework names it"))
	p.set(4, "nodes", byDefault(len(machines), "all GPU nodes"))
	p.set(4, "steps", byDefault(t.Steps, "the floor of firstlight"))
	p.set(4, "timeout", byDefault(t.Timeout.D().String(), "of a run"))
	p.note(4, "checkpoint: {directory: /mnt/checkpoints, sizeGiB: 16} proves that jobs can write checkpoints")
	p.key(2, "inference")
	p.set(4, "image", byDefault(i.Image, "your nodes must be able to pull it"))
	p.set(4, "model", byDefault(i.Model, "your nodes must be able to load it"))
	p.set(4, "client", byDefault(site.ClientCluster, "the load comes from a pod, at a fixed rate; machine: from this machine, through the API server, with at most concurrency requests at a time"))
	p.set(4, "loadImage", todo("", "an image with the firstlight program (images/loadgen) that the nodes can pull; or client: machine, without this line"))
	p.set(4, "gpus", byDefault(i.GPUs, "of the server"))
	p.set(4, "maxModelLen", byDefault(i.MaxModelLen, "tokens"))
	p.set(4, "prompt", byDefault(i.Prompt, "of the completion that is compared"))
	p.set(4, "goldenPrefix", todo(i.GoldenPrefix, "the beginning of the greedy completion of a known-good server of this model"))
	p.set(4, "rate", byDefault(i.Rate, "requests a second"))
	p.set(4, "concurrency", byDefault(i.Concurrency, "requests at a time with client: machine; no limit with cluster"))
	p.set(4, "requests", byDefault(i.Requests, "in all"))
	p.set(4, "warmup", byDefault(i.Warmup, "requests that are not measured"))
	p.set(4, "inputTokens", byDefault(i.InputTokens, "of a request"))
	p.set(4, "outputTokens", byDefault(i.OutputTokens, "of a request"))
	p.set(4, "timeout", byDefault(i.Timeout.D().String(), "of a run"))
}
