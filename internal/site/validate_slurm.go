package site

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/profile"
)

// slurmKeys are the keys with an effect on a Slurm cluster, each with all keys below it.
var slurmKeys = []string{
	"apiVersion", "kind", "name", "spine", "profile", "facility", "inventory", "reach.ssh", "reach.gpuTools",
	"nvlink", "fabric.subnets", "fabric.switches", "fabric.hcas", "fabric.links", "fabric.topology", "fabric.others", "fabric.design", "fabric.roce", "fabric.soak",
	"slurm", "workloads.collective.image", "workloads.collective.timeout", "workloads.collective.minBytes", "workloads.collective.maxBytes",
	"workloads.collective.suite", "workloads.collective.byRail", "workloads.collective.byNVLinkDomain",
	"workloads.training.image", "workloads.training.framework", "workloads.training.model", "workloads.training.nodes", "workloads.training.steps",
	"workloads.training.timeout", "workloads.training.minMFU", "workloads.training.checkpoint",
	"workloads.inference.image", "workloads.inference.model", "workloads.inference.gpus", "workloads.inference.maxModelLen", "workloads.inference.prompt", "workloads.inference.goldenPrefix",
	"workloads.inference.rate", "workloads.inference.concurrency", "workloads.inference.requests", "workloads.inference.warmup", "workloads.inference.inputTokens", "workloads.inference.outputTokens",
	"workloads.inference.ttftP99", "workloads.inference.tpotP99", "workloads.inference.itlP99", "workloads.inference.timeout",
	"prepare", "notApplicable",
}

// slurmName is a name that is an argument of srun as it is.
var slurmName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$`)

// slurmDirectory is an argument of sbatch, in which % begins a replacement, and a word of a shell script.
var slurmDirectory = regexp.MustCompile(`^(/[A-Za-z0-9_.-]+)+$`)

// onSlurm validates the site of a Slurm cluster. Keys of Kubernetes would have no effect.
func (v *validator) onSlurm(s *Site, p *profile.Profile) {
	if len(v.root.Content) > 0 {
		v.only(SpineSlurm, slurmKeys, "", v.root.Content[0])
	}
	v.facility(&s.Facility)
	v.inventory(&s.Inventory)
	v.ssh(s)
	if s.Reach.GPUTools != ToolsOnHost {
		v.add("reach.gpuTools", "%q is not %s: spine slurm has no pods", s.Reach.GPUTools, ToolsOnHost)
	}
	v.fabric(s, p)
	v.nvlink(s, p)
	if s.NVLink.IMEX == IMEXByDRA {
		v.add("nvlink.imex", "%s needs Kubernetes: use %s or %s with spine slurm", IMEXByDRA, IMEXOnHost, IMEXNone)
	}
	v.slurm(s)
	v.collective(s, p)
	if limit := s.Reach.SSH.Timeout; !s.local() && s.Workloads.Collective.Timeout > limit {
		v.add("workloads.collective.timeout", "%s is longer than reach.ssh.timeout, %s, which would end srun", s.Workloads.Collective.Timeout.D(), limit.D())
	}
	if s.NotApplicable["training"] == "" {
		v.training(s, p)
		v.slurmImage(s, "workloads.training.image", s.Workloads.Training.Image, "nvcr.io#nvidia/pytorch:25.10-py3 with torchtitan")
	}
	if s.NotApplicable["inference"] == "" {
		v.inference(s, p)
		v.slurmImage(s, "workloads.inference.image", s.Workloads.Inference.Image, "vllm/vllm-openai:v0.13.0")
	}
	v.prepare(s)
	for i, prepare := range s.Prepare {
		if prepare.Helm != nil {
			v.add(fmt.Sprintf("prepare.%d.helm", i), "needs Kubernetes: spine slurm has none")
		}
	}
}

func (s *Site) local() bool { return s.Slurm != nil && s.Slurm.Local }

func (v *validator) slurm(s *Site) {
	c := s.Slurm
	if c == nil {
		v.add("slurm", "is missing; for example {loginHost: login-01, partition: batch, containers: pyxis}")
		return
	}
	v.slurmHost(s)
	given := c.JobTimeout.D()
	if _, value := locate(v.root, "slurm.jobTimeout"); value != nil {
		if d, err := time.ParseDuration(value.Value); err == nil { // 0s was replaced by the default
			given = d
		}
	}
	v.positive("slurm.jobTimeout", given.Seconds(), "5m")
	v.require("slurm.partition", c.Partition, "batch")
	for key, value := range map[string]string{"partition": c.Partition, "account": c.Account, "qos": c.QOS, "reservation": c.Reservation, "gpuType": c.GPUType, "mpi": c.MPI} {
		if value != "" && !slurmName.MatchString(value) {
			v.add("slurm."+key, "invalid name %q: use letters, digits, dot, colon, dash and underscore", value)
		}
	}
	v.oneOf("slurm.containers", c.Containers, []string{ContainersNone, ContainersPyxis})
	v.slurmImage(s, "workloads.collective.image", s.Workloads.Collective.Image, "nvcr.io#nvidia/pytorch:25.10-py3, which has nccl-tests")
	if !slurmDirectory.MatchString(c.OutputDirectory) || path.Clean(c.OutputDirectory) != c.OutputDirectory {
		v.add("slurm.outputDirectory", "invalid directory %q: must be an absolute path of letters, digits, dot, dash and underscore, such as /shared/firstlight", c.OutputDirectory)
	}
	const unprivileged, highest = 1024, 65535
	if c.ServerPort < unprivileged || c.ServerPort > highest {
		v.add("slurm.serverPort", "invalid port %d: must be between %d and %d", c.ServerPort, unprivileged, highest)
	}
	v.unique("slurm.without", c.Without)
	for i, part := range c.Without {
		v.oneOf(fmt.Sprintf("slurm.without.%d", i), part, []string{WithoutProlog, WithoutEpilog, WithoutAccounting})
	}
}

// slurmImage requires an image where Pyxis runs it, and refuses one that nothing runs.
func (v *validator) slurmImage(s *Site, key, image, example string) {
	switch {
	case s.Slurm == nil:
	case s.Slurm.Containers == ContainersPyxis:
		v.require(key, image, example)
	case image != "":
		v.add(key, "has no effect with slurm.containers: %s: remove it, or use %s", s.Slurm.Containers, ContainersPyxis)
	}
}

func (v *validator) slurmHost(s *Site) {
	c := s.Slurm
	known := slices.ContainsFunc(slices.Concat(s.Inventory.SystemNodes, s.Inventory.Nodes), func(n Node) bool { return n.Name == c.LoginHost })
	switch {
	case c.Local && c.LoginHost != "":
		v.add("slurm.loginHost", "has no effect with slurm.local: keep one")
	case c.Local:
	case c.LoginHost == "":
		v.add("slurm.loginHost", "is missing: the host that runs scontrol and srun, or set slurm.local on that host")
	case !known:
		v.add("slurm.loginHost", "%q is not among inventory.systemNodes and inventory.nodes", c.LoginHost)
	}
}

// LoweredSlurm are the demands of the gates of Slurm that the site gives up.
func (s *Site) LoweredSlurm(parts ...string) []string {
	var out []string
	for _, part := range s.Slurm.Without {
		if slices.Contains(parts, part) {
			out = append(out, "slurm.without has "+part+": the cluster is not asked for it")
		}
	}
	return out
}
