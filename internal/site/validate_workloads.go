package site

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/profile"
)

func (v *validator) fabric(s *Site, p *profile.Profile) {
	f := &s.Fabric
	if p != nil {
		v.withoutHardware(s, p)
		if !p.Rails() {
			return
		}
	}
	if p == nil || p.Subnet() {
		v.subnet(s)
	}
	v.unique("fabric.hcas", f.HCAs)
	if p != nil && p.Verbs() && len(f.HCAs) != int(p.Node.HCAs.Value) {
		v.add("fabric.hcas", "lists %d devices, profile %s has %d a node", len(f.HCAs), p.Name, int(p.Node.HCAs.Value))
	}
	if f.NetworkResource == "" && p != nil && p.Fabric.Kind == profile.TCPXO {
		return // pods take part by annotation
	}
	if !resourceName.MatchString(f.NetworkResource) {
		v.add("fabric.networkResource", "invalid extended resource %q: must be such as rdma/ib", f.NetworkResource)
	}
	if f.NetworkResourceCount <= 0 {
		v.add("fabric.networkResourceCount", "must be at least 1")
	}
}

// subnet requires what gate fabric compares an InfiniBand subnet with.
func (v *validator) subnet(s *Site) {
	f := &s.Fabric
	if len(f.Switches) == 0 {
		v.add("fabric.switches", "is empty: list the switches that the subnet must hold")
	}
	v.unique("fabric.switches", f.Switches)
	if least := len(s.Inventory.Nodes) * len(f.HCAs); f.Links < least {
		v.add("fabric.links", "%d is impossible: %d nodes x %d HCAs alone make %d", f.Links, len(s.Inventory.Nodes), len(f.HCAs), least)
	}
	if f.Topology != "" {
		v.oneOf("fabric.topology", f.Topology, []string{RailOptimised, FatTree})
	}
	if f.Soak.D() <= 0 {
		v.add("fabric.soak", "is missing: how long error counters are watched, for example 10m")
	}
}

// withoutHardware refuses keys of hardware that the profile does not have, and requires that the
// gates that need it are declared not applicable.
func (v *validator) withoutHardware(s *Site, p *profile.Profile) {
	f := &s.Fabric
	for _, of := range []struct {
		key    string
		set    bool
		needed bool
		what   string
	}{
		{"switches", len(f.Switches) > 0, p.Subnet(), "no InfiniBand subnet"},
		{"hcas", len(f.HCAs) > 0, p.Verbs(), "no InfiniBand or RoCE devices"},
		{"links", f.Links != 0, p.Subnet(), "no InfiniBand subnet"},
		{"topology", f.Topology != "", p.Subnet(), "no InfiniBand subnet"},
		{"networkResource", f.NetworkResource != "", p.Rails(), "no compute fabric"},
		{"networkResourceCount", f.NetworkResourceCount != 0, p.Rails(), "no compute fabric"},
	} {
		if !p.Rails() {
			of.what = "no compute fabric"
		}
		if of.set && !of.needed {
			v.add("fabric."+of.key, "must not be set: profile %s has %s", p.Name, of.what)
		}
	}
	reasons := NotApplicableTo(p, len(s.Inventory.Nodes))
	for _, gate := range Gates() {
		if why, ok := reasons[gate]; ok && s.NotApplicable[gate] == "" {
			v.add("notApplicable", "profile %s has nothing for gate %s to look at (%s): write %s with the reason", p.Name, gate, why, gate)
		}
	}
}

// NotApplicableTo maps the gates that have nothing to look at on a number of nodes of a profile to
// the reasons.
func NotApplicableTo(p *profile.Profile, nodes int) map[string]string {
	out := map[string]string{}
	switch {
	case !p.Rails():
		out["fabric"] = "no compute fabric between nodes"
	case !p.Subnet():
		out["fabric"] = fmt.Sprintf("the fabric is of kind %s, and not an InfiniBand subnet", p.Fabric.Kind)
	}
	if !p.Collectives() {
		out["collective"] = "neither NVLinks nor a compute fabric between GPUs"
	} else if _, ok := p.CeilingFor(nodes); !ok && nodes > 0 && !p.Rails() {
		out["collective"] = fmt.Sprintf("no compute fabric connects %d nodes", nodes)
	}
	return out
}

func (v *validator) unique(path string, values []string) {
	seen := map[string]string{}
	for i, s := range values {
		at := fmt.Sprintf("%s.%d", path, i)
		if strings.TrimSpace(s) == "" {
			v.add(at, "is empty")
		}
		v.once(seen, at, s)
	}
}

// once refuses a value that is in seen, which has values with their paths, and adds it.
func (v *validator) once(seen map[string]string, path, value string) {
	if other, dup := seen[value]; dup {
		v.add(path, "duplicate value %q (also at %s)", value, other)
		return
	}
	seen[value] = path
}

func (v *validator) gpustack(g *GPUStack) {
	v.require("gpustack.namespace", g.Namespace, "gpu-operator")
	v.require("gpustack.clusterPolicy", g.ClusterPolicy, "cluster-policy")
	if len(g.Operands) == 0 {
		v.add("gpustack.operands", "is empty: list the operator's DaemonSets that must be complete")
	}
	v.unique("gpustack.operands", g.Operands)
	v.oneOf("gpustack.gangScheduler", g.GangScheduler, []string{"auto", "native", "kai", "volcano", "kueue"})
}

func (v *validator) telemetry(t *Telemetry) {
	if t.ScrapeInterval.D() <= 0 {
		v.add("telemetry.scrapeInterval", "is missing: the interval Prometheus scrapes dcgm-exporter at, for example 15s")
	}
	v.require("telemetry.receiver", t.Receiver, "the Alertmanager receiver that pages the on-call")
	v.require("telemetry.loadImage", t.LoadImage, "an image with dcgmproftester13")
}

func (v *validator) checkpoint(c *Checkpoint) {
	if c == nil {
		return
	}
	if clean := filepath.Clean(c.Directory); !filepath.IsAbs(clean) || clean == "/" || clean != c.Directory {
		v.add("workloads.training.checkpoint.directory", "invalid directory %q: must be an absolute path on the nodes, such as /mnt/checkpoints", c.Directory)
	}
	v.positive("workloads.training.checkpoint.sizeGiB", float64(c.SizeGiB), "16")
}

func (v *validator) workloads(s *Site, p *profile.Profile) {
	c, t, i := &s.Workloads.Collective, &s.Workloads.Training, &s.Workloads.Inference
	v.require("workloads.collective.image", c.Image, "an image with nccl-tests, mpirun and sshd")
	for path, size := range map[string]string{"minBytes": c.MinBytes, "maxBytes": c.MaxBytes} {
		if size != "" && !byteSize.MatchString(size) {
			v.add("workloads.collective."+path, "invalid size %q: must be a size of nccl-tests, such as 8M or 16G", size)
		}
	}
	v.positive("workloads.collective.timeout", c.Timeout.D().Seconds(), "10m")
	v.require("workloads.training.image", t.Image, "an image with torchtitan")
	v.oneOf("workloads.training.framework", t.Framework, []string{"torchtitan", "megatron"})
	v.require("workloads.training.model", t.Model, "llama3-8b")
	if t.Nodes < 1 || t.Nodes > len(s.Inventory.Nodes) {
		v.add("workloads.training.nodes", "%d is impossible: the inventory has %d GPU nodes", t.Nodes, len(s.Inventory.Nodes))
	}
	if p != nil && t.Steps < 3*int(p.Training.WarmupSteps.Value) {
		v.add("workloads.training.steps", "%d is too few: %d are warm-up, at least %d are needed", t.Steps, int(p.Training.WarmupSteps.Value), 3*int(p.Training.WarmupSteps.Value))
	}
	v.positive("workloads.training.timeout", t.Timeout.D().Seconds(), "30m")
	v.checkpoint(t.Checkpoint)
	v.require("workloads.inference.image", i.Image, "an image with vLLM")
	v.require("workloads.inference.model", i.Model, "meta-llama/Llama-3.1-8B-Instruct")
	v.require("workloads.inference.prompt", i.Prompt, "\"The capital of France is\"")
	v.require("workloads.inference.goldenPrefix", i.GoldenPrefix, "\" Paris. It is the largest city in France\"")
	if p != nil && (i.GPUs < 1 || i.GPUs > int(p.Node.GPUs.Value)) {
		v.add("workloads.inference.gpus", "%d is impossible: a node has %d", i.GPUs, int(p.Node.GPUs.Value))
	}
	v.positive("workloads.inference.maxModelLen", float64(i.MaxModelLen), "8192")
	v.positive("workloads.inference.rate", i.Rate, "10")
	v.positive("workloads.inference.concurrency", float64(i.Concurrency), "16")
	v.positive("workloads.inference.requests", float64(i.Requests), "200")
	v.positive("workloads.inference.inputTokens", float64(i.InputTokens), "256")
	if i.OutputTokens < 2 {
		v.add("workloads.inference.outputTokens", "%d is too few: TPOT needs at least 2 tokens", i.OutputTokens)
	}
	if i.InputTokens+i.OutputTokens > i.MaxModelLen {
		v.add("workloads.inference.maxModelLen", "%d is less than inputTokens + outputTokens (%d)", i.MaxModelLen, i.InputTokens+i.OutputTokens)
	}
	v.positive("workloads.inference.timeout", i.Timeout.D().Seconds(), "15m")
	if least := i.inFlight(p); i.Concurrency > 0 && i.Concurrency < least {
		v.add("workloads.inference.concurrency", "%d is too few: at %g requests a second a server that just meets the objectives holds %d at a time, "+
			"so that requests would wait here and latencies be those of a lighter load; must be at least %d", i.Concurrency, i.Rate, least, least)
	}
}

// inFlight is how many requests a server holds at a time that just meets the objectives:
// the rate times what an answer may take, and no more than there are. It is 0 where the
// objectives are not known.
func (i *InferenceWorkload) inFlight(p *profile.Profile) int {
	if p == nil {
		return 0
	}
	const ms = float64(time.Millisecond)
	ttft, tpot := p.Inference.TTFTp99.Value*ms, p.Inference.TPOTp99.Value*ms
	if i.TTFTp99 > 0 {
		ttft = float64(i.TTFTp99.D())
	}
	if i.TPOTp99 > 0 {
		tpot = float64(i.TPOTp99.D())
	}
	answer := (ttft + tpot*float64(i.OutputTokens-1)) / float64(time.Second)
	return int(min(math.Ceil(i.Rate*answer), float64(i.Requests)))
}

func (v *validator) positive(path string, value float64, example string) {
	if value <= 0 {
		v.add(path, "must be more than zero; for example %s", example)
	}
}

func (v *validator) prepare(s *Site) {
	for i, p := range s.Prepare {
		path := fmt.Sprintf("prepare.%d", i)
		if !slices.Contains(Gates(), p.Gate) {
			v.add(path+".gate", "%q is not one of %s", p.Gate, strings.Join(Gates(), ", "))
		}
		kinds := 0
		for _, set := range []bool{len(p.Command) > 0, p.Playbook != "", p.Helm != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			v.add(path, "needs exactly one of command, playbook and helm; it has %d", kinds)
		}
		if p.Helm != nil {
			v.require(path+".helm.release", p.Helm.Release, "gpu-operator")
			v.require(path+".helm.chart", p.Helm.Chart, "oci://registry/charts/gpu-operator")
			v.require(path+".helm.version", p.Helm.Version, "v25.3.0; a release without a pinned version cannot be reproduced")
			v.require(path+".helm.namespace", p.Helm.Namespace, "gpu-operator")
		}
	}
}
