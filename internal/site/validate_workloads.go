package site

import (
	"fmt"
	"maps"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firstlight/firstlight/internal/profile"
)

func (v *validator) fabric(s *Site, p *profile.Profile) {
	f := &s.Fabric
	v.hcas(f, p)
	if p != nil {
		v.withoutHardware(s, p)
		if !p.Rails() {
			return
		}
	}
	switch {
	case p == nil || p.Subnet():
		v.soak(f)
		if len(f.Subnets) > 0 {
			v.subnets(s)
		} else {
			v.subnet("fabric", s)
		}
	case s.NotApplicable["fabric"] != "":
	case p.Fabric.Kind == profile.RoCE:
		v.roce(f)
	case p.Fabric.Kind == profile.EFA:
		v.soak(f)
	}
	v.unique("fabric.hcas", f.HCAs)
	if p != nil && p.Verbs() && len(f.HCAs) != int(p.Node.HCAs.Value) {
		v.add("fabric.hcas", "lists %d devices, profile %s has %d a node", len(f.HCAs), p.Name, int(p.Node.HCAs.Value))
	}
	if f.NetworkResource == "" && p != nil && p.Fabric.Kind == profile.TCPXO || s.OnSlurm() {
		return // pods take part by annotation, or the cluster has no pods
	}
	if !resourceName.MatchString(f.NetworkResource) {
		v.add("fabric.networkResource", "invalid extended resource %q: must be such as rdma/ib", f.NetworkResource)
	}
	if f.NetworkResourceCount <= 0 {
		v.add("fabric.networkResourceCount", "must be at least 1")
	}
}

// subnet requires what gate fabric compares an InfiniBand subnet with; at is the path of its keys.
func (v *validator) subnet(at string, s *Site) {
	f := &s.Fabric
	if len(f.Switches) == 0 {
		v.add(at+".switches", "is empty: list the switches that the subnet must hold")
	}
	v.unique(at+".switches", f.Switches)
	for i, name := range f.Switches {
		if !strings.HasPrefix(name, "0x") {
			continue
		}
		if id, err := strconv.ParseUint(name, 0, 64); err != nil || id == 0 {
			v.add(fmt.Sprintf("%s.switches.%d", at, i), "invalid GUID %q: must be such as 0xfc6a1c0300b00580", name)
		}
	}
	if least := len(s.Inventory.Nodes) * len(f.HCAs); f.Links < least {
		v.add(at+".links", "%d is impossible: %d nodes x %d HCAs alone make %d", f.Links, len(s.Inventory.Nodes), len(f.HCAs), least)
	}
	if f.Topology != "" {
		v.oneOf(at+".topology", f.Topology, []string{RailOptimised, FatTree})
	}
	v.others(at, s)
}

func (v *validator) soak(f *Fabric) {
	if f.Soak.D() <= 0 {
		v.add("fabric.soak", "is missing: how long error counters are watched, for example 10m")
	}
}

// roce requires what gate fabric compares hosts of a RoCE fabric with.
func (v *validator) roce(f *Fabric) {
	v.soak(f)
	r := f.RoCE
	if r == nil || r.Priority == nil {
		v.add("fabric.roce", "is missing: the priority of RDMA traffic and its DSCP, for example {priority: 3, dscp: 26}")
		return
	}
	if *r.Priority < 0 || *r.Priority > 7 {
		v.add("fabric.roce.priority", "invalid priority %d: must be 0 to 7", *r.Priority)
	}
	if r.DSCP != nil && (*r.DSCP < 0 || *r.DSCP > 63) {
		v.add("fabric.roce.dscp", "invalid DSCP %d: must be 0 to 63", *r.DSCP)
	}
	v.unique("fabric.roce.without", r.Without)
	for i, name := range r.Without {
		v.oneOf(fmt.Sprintf("fabric.roce.without.%d", i), name, []string{WithoutPFC, WithoutECN})
	}
}

// others refuses patterns that would hide nodes of the site; at is the path of the subnet's keys.
func (v *validator) others(at string, s *Site) {
	f := &s.Fabric
	v.unique(at+".others", f.Others)
	own := slices.Clone(f.Switches)
	for _, n := range s.Inventory.Nodes {
		for _, hca := range f.HCAs {
			own = append(own, n.Name+" "+hca)
		}
	}
	for i, pattern := range f.Others {
		key := fmt.Sprintf("%s.others.%d", at, i)
		if strings.HasPrefix(pattern, "0x") {
			if id, err := strconv.ParseUint(pattern, 0, 64); err != nil || id == 0 {
				v.add(key, "invalid GUID %q: must be such as 0xb8599f030022626e", pattern)
			}
			continue
		}
		if _, err := path.Match(pattern, ""); err != nil || strings.TrimSpace(pattern) == "" {
			v.add(key, "invalid pattern %q: must be a node description with * and ?, such as \"storage-*\"", pattern)
			continue
		}
		for _, name := range own {
			if hides, err := path.Match(pattern, name); hides && err == nil {
				v.add(key, "%q matches %q, which is the site's own: it would not be judged", pattern, name)
				break
			}
		}
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
		{"others", len(f.Others) > 0, p.Subnet(), "no InfiniBand subnet"},
		{"topology", f.Topology != "", p.Subnet(), "no InfiniBand subnet"},
		{"design", f.Design != "", p.Subnet(), "no InfiniBand subnet"},
		{"subnets", len(f.Subnets) > 0, p.Subnet(), "no InfiniBand subnet"},
		{"roce", f.RoCE != nil, p.Fabric.Kind == profile.RoCE, "no RoCE fabric"},
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
	case p.Fabric.Kind == profile.TCPXO:
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

// DRADeviceClass is the DeviceClass of whole GPUs of NVIDIA's DRA driver.
const DRADeviceClass = "gpu.nvidia.com"

// DRANone is GPUStack.DRADriver of a cluster whose GPUs the device plugin alone offers.
const DRANone = "none"

func (v *validator) gpustack(g *GPUStack) {
	v.oneOf("gpustack.managedBy", g.ManagedBy, []string{ManagedByOperator, ManagedByProvider})
	v.unique("gpustack.operands", g.Operands)
	v.operands(g)
	v.provider(g)
	if g.Provided() {
		v.provided(g)
	} else {
		v.require("gpustack.namespace", g.Namespace, "gpu-operator")
		switch {
		case g.GPUCluster == "":
			v.require("gpustack.clusterPolicy", g.ClusterPolicy, "cluster-policy")
		case g.ClusterPolicy != "":
			v.add("gpustack.gpuCluster", "contradicts clusterPolicy: the operator reconciles no GPUCluster where there is a ClusterPolicy; remove one of them")
		case g.DeviceClass == "":
			v.add("gpustack.deviceClass", "is missing: a GPUCluster offers GPUs by DRA, for example %s", DRADeviceClass)
		}
		if len(g.Operands) == 0 {
			v.add("gpustack.operands", "is empty: list the operator's DaemonSets that must be complete")
		}
	}
	if g.DeviceClass != "" && g.DeviceClass != DRADeviceClass {
		v.add("gpustack.deviceClass", "unknown DeviceClass %q: must be %s, or empty where the device plugin offers the GPUs", g.DeviceClass, DRADeviceClass)
	}
	if g.DRADriver != "" && g.DRADriver != DRANone {
		v.add("gpustack.draDriver", "unknown value %q: must be %s, or be left out where a DRA driver may be installed", g.DRADriver, DRANone)
	}
	if g.DRADriver != "" && g.DeviceClass != "" {
		v.add("gpustack.draDriver", "contradicts deviceClass, which the DRA driver offers: remove one of them")
	}
	if g.DeviceClass != "" && g.MIG != nil {
		v.add("gpustack.mig", "is for the device plugin's resources: remove it, or deviceClass")
	}
	for i, pattern := range g.OtherDevicePlugins {
		if _, err := path.Match(pattern, ""); err != nil || strings.Trim(pattern, "*?/") == "" {
			v.add(fmt.Sprintf("gpustack.otherDevicePlugins.%d", i), "invalid pattern %q: must be the end of an image's repository, such as smarter-device-manager", pattern)
		}
	}
	v.oneOf("gpustack.gangScheduler", g.GangScheduler, []string{"auto", "native", "kai", "volcano", "kueue"})
	if g.JobKind != "" {
		v.oneOf("gpustack.jobKind", g.JobKind, []string{"auto", "job", "jobset", "trainjob", "mpijob", "vcjob"})
	}
	if g.GangScheduler == "native" && slices.Contains([]string{"jobset", "trainjob", "mpijob"}, g.JobKind) {
		v.add("gpustack.jobKind", "%s is not possible with gangScheduler native: the controllers of other kinds than job drop the field by which a pod names its PodGroup", g.JobKind)
	}
	if g.JobKind == "vcjob" && slices.Contains([]string{"native", "kai", "kueue"}, g.GangScheduler) {
		v.add("gpustack.jobKind", "vcjob needs gangScheduler volcano: its controller creates the pods when Volcano has accepted their PodGroup")
	}
}

func (v *validator) telemetry(t *Telemetry) {
	if t.ScrapeInterval.D() <= 0 {
		v.add("telemetry.scrapeInterval", "is missing: the interval Prometheus scrapes dcgm-exporter at, for example 15s")
	}
	v.require("telemetry.receiver", t.Receiver, "the Alertmanager receiver that pages the on-call")
	for _, name := range slices.Sorted(maps.Keys(t.Matchers)) {
		path := "telemetry.matchers." + name
		if !model.LegacyValidation.IsValidLabelName(name) || name == model.MetricNameLabel {
			v.add(path, "invalid label name: must be letters, digits and underscores, such as cluster")
		}
		v.require(path, t.Matchers[name], "prod")
	}
	v.alert(&t.Alert)
	v.require("telemetry.loadImage", t.LoadImage, "an image with bash and the dcgmproftester of the driver's CUDA major")
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

// training requires a job that can be judged; its image is the spine's.
func (v *validator) training(s *Site, p *profile.Profile) {
	t := &s.Workloads.Training
	v.oneOf("workloads.training.framework", t.Framework, []string{"torchtitan", "megatron"})
	v.require("workloads.training.model", t.Model, "llama3_8b")
	if t.Nodes < 1 || t.Nodes > len(s.Inventory.Nodes) {
		v.add("workloads.training.nodes", "%d is impossible: the inventory has %d GPU nodes", t.Nodes, len(s.Inventory.Nodes))
	}
	if p != nil && t.Steps < 3*int(p.Training.WarmupSteps.Value) {
		v.add("workloads.training.steps", "%d is too few: %d are warm-up, at least %d are needed", t.Steps, int(p.Training.WarmupSteps.Value), 3*int(p.Training.WarmupSteps.Value))
	}
	v.positive("workloads.training.timeout", t.Timeout.D().Seconds(), "30m")
	v.checkpoint(t.Checkpoint)
}

func (v *validator) workloads(s *Site, p *profile.Profile) {
	v.require("workloads.collective.image", s.Workloads.Collective.Image, "an image with nccl-tests, mpirun and sshd")
	v.collective(s, p)
	v.require("workloads.training.image", s.Workloads.Training.Image, "an image with torchtitan")
	v.training(s, p)
	i := &s.Workloads.Inference
	v.require("workloads.inference.image", i.Image, "an image with vLLM")
	v.oneOf("workloads.inference.client", i.Client, []string{ClientCluster, ClientMachine})
	if i.Client == ClientCluster {
		v.require("workloads.inference.loadImage", i.LoadImage, "an image with the firstlight program (images/loadgen)")
	}
	v.inference(s, p)
}

// inference validates the server and its load, without what runs them.
func (v *validator) inference(s *Site, p *profile.Profile) {
	i := &s.Workloads.Inference
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
		for _, set := range []bool{len(p.Command) > 0, p.Playbook != "", p.Ansible != nil, p.Helm != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			v.add(path, "needs exactly one of command, playbook, ansible and helm; it has %d", kinds)
		}
		if p.Ansible != nil {
			v.ansible(path+".ansible", p.Ansible)
		}
		if p.Helm != nil {
			v.require(path+".helm.release", p.Helm.Release, "gpu-operator")
			v.require(path+".helm.chart", p.Helm.Chart, "oci://registry/charts/gpu-operator")
			v.require(path+".helm.version", p.Helm.Version, "v25.3.0; a release without a pinned version cannot be reproduced")
			v.require(path+".helm.namespace", p.Helm.Namespace, "gpu-operator")
			v.chart(path+".helm", p.Helm)
		}
	}
}
