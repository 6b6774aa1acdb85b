package slurm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	probe "github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyClient    = slurmjob.RemedyClient
	remedyCtld      = "on that host: systemctl status slurmctld, and its log; munge -n | unmunge on both hosts"
	remedyPartition = "scontrol update PartitionName=NAME State=UP, and State= in slurm.conf"
	remedyHook      = "set it in slurm.conf, or add it to slurm.without if the cluster has none"
	remedyPyxis     = "install Pyxis on the login host and on all nodes: plugstack.conf must include spank_pyxis.so"
	remedyEnroot    = "install enroot on the node, in the PATH of jobs"
	remedyEnded     = "read sacct -j JOB and the log of slurmctld about the job; then run it again"
	remedyJob       = "read srun's output in the evidence, and the logs of slurmctld and slurmd"
)

// Judge implements check.Check.
func (g *Stack) Judge(obs []check.Observation) check.Judgement {
	var b check.Builder
	config := g.judgeState(&b, obs)
	if b.Clean() { // else no job was started
		g.judgeJob(&b, obs)
	}
	b.MergeSuspects()
	n := float64(len(g.site.Inventory.Nodes))
	b.Figure(check.Figure{Name: "nodes that ran the job", Value: g.ran(obs), Unit: "nodes", Limit: n, Relation: "==", Source: "site inventory.nodes"})
	return b.Judgement(g.reason(config))
}

// judgeState judges everything but the job.
func (g *Stack) judgeState(b *check.Builder, obs []check.Observation) probe.Config {
	if !g.judgeControllers(b, obs) {
		return probe.Config{}
	}
	config := g.judgeConfig(b, obs)
	g.judgePartition(b, obs)
	if g.pyxis() {
		help, o, ok := check.Require[helpFigures](b, obs, kindHelp, "", "srun --help", remedyClient)
		if ok && !help.Pyxis {
			b.Fail(o.ID, "Pyxis", remedyPyxis, "srun on %s has no option --container-image", g.host())
		}
	}
	if nodes, o, ok := check.Require[nodeFigures](b, obs, kindNodes, "", "nodes of Slurm", remedyClient); ok {
		g.judgeNodes(b, o.ID, nodes.Nodes, false)
	}
	return config
}

func (g *Stack) reason(config probe.Config) string {
	kind := "GPUs"
	if t := g.site.Slurm.GPUType; t != "" {
		kind += " of type " + t
	}
	through := ""
	var hooks []string
	for _, part := range []string{site.WithoutProlog, site.WithoutEpilog} {
		if !g.without(part) {
			hooks = append(hooks, part)
		}
	}
	if len(hooks) > 0 {
		through = " through " + strings.Join(hooks, " and ")
	}
	return fmt.Sprintf("Slurm %s: %d nodes idle in partition %s, %d %s each; a job ran on all of them%s",
		config.Version, len(g.site.Inventory.Nodes), g.site.Slurm.Partition, g.gpus(), kind, through)
}

// ran is the number of nodes of the inventory with a task of the job.
func (g *Stack) ran(obs []check.Observation) float64 {
	var b check.Builder
	f, _, _ := check.Require[jobFigures](&b, obs, kindJob, "", "job", "")
	n := 0
	for _, name := range g.site.NodeNames() {
		if slices.ContainsFunc(f.Tasks, func(t jobTask) bool { return t.Node == name }) {
			n++
		}
	}
	return float64(n)
}

// judgeControllers requires every slurmctld, and reports whether one answers.
func (g *Stack) judgeControllers(b *check.Builder, obs []check.Observation) bool {
	controllers, o, ok := check.Require[[]probe.Controller](b, obs, kindPing, "", "slurmctld", remedyClient)
	if ok && len(controllers) == 0 {
		b.Unobserved(o.ID, "slurmctld", remedyClient, "no slurmctld is listed")
	}
	up := false
	for _, c := range controllers {
		up = up || c.Up
		if !c.Up {
			b.Fail(o.ID, "slurmctld "+c.Host, remedyCtld, "slurmctld (%s) on %s does not answer", c.Role, c.Host)
		}
	}
	return ok && up
}

func (g *Stack) without(part string) bool { return slices.Contains(g.site.Slurm.Without, part) }

// judgeConfig requires prolog and epilog.
func (g *Stack) judgeConfig(b *check.Builder, obs []check.Observation) probe.Config {
	config, o, ok := check.Require[probe.Config](b, obs, kindConfig, "", "slurm.conf", remedyClient)
	if !ok {
		return config
	}
	if len(config.Prolog) == 0 && !g.without(site.WithoutProlog) {
		b.Fail(o.ID, "slurm.conf Prolog", remedyHook, "no Prolog is configured: nothing checks a node before a job")
	}
	if len(config.Epilog) == 0 && !g.without(site.WithoutEpilog) {
		b.Fail(o.ID, "slurm.conf Epilog", remedyHook, "no Epilog is configured: nothing checks a node after a job")
	}
	return config
}

// judgePartition requires that the partition starts jobs.
func (g *Stack) judgePartition(b *check.Builder, obs []check.Observation) {
	partitions, o, ok := check.Require[[]probe.Partition](b, obs, kindPartitions, "", "partitions", remedyClient)
	if !ok {
		return
	}
	name := g.site.Slurm.Partition
	at := slices.IndexFunc(partitions, func(p probe.Partition) bool { return p.Name == name })
	switch {
	case at < 0:
		b.Fail(o.ID, "partition "+name, "correct slurm.partition of the site, or add it to slurm.conf", "partition %s not found", name)
	case partitions[at].State != "UP":
		b.Fail(o.ID, "partition "+name, remedyPartition, "partition %s is %s, want UP", name, partitions[at].State)
	}
}

// noNodes matches srun's reasons for a job that other jobs keep from its nodes (slurm_errno.c, 20.11 to 25.05).
var noNodes = regexp.MustCompile(`nable to allocate resources: (?:Requested nodes are busy|Immediate execution impossible|Requested reservation is in use|Connection timed out)`)

// judgeJob requires a task on every node, and that every node takes jobs after it. The next job may run already.
func (g *Stack) judgeJob(b *check.Builder, obs []check.Observation) {
	job, o, ran := check.Require[jobFigures](b, obs, kindJob, "", "job", remedyJob)
	after, last, seen := check.Require[nodeFigures](b, obs, kindAfter, "", "nodes after the job", remedyClient)
	if seen {
		g.judgeNodes(b, last.ID, after.Nodes, true)
	}
	if !ran {
		return
	}
	if job.Exit != 0 || job.TimedOut {
		switch {
		case b.HasFailed(): // it is the reason
		case slurmjob.Unrelated(job.State):
			b.Unobserved(o.ID, "job "+g.jobName(g.Name()), remedyEnded, "a person or the scheduler ended the job: it is %s: %s", job.State, job.Problem)
		case job.Job == "" && !job.TimedOut && noNodes.MatchString(job.Problem):
			b.Unobserved(o.ID, "job "+g.jobName(g.Name()), remedyBusy, "the job got no nodes: %s", job.Problem)
		default:
			b.Fail(o.ID, "job "+g.jobName(g.Name()), remedyJob, "the job failed (exit code %d): %s", job.Exit, job.Problem)
		}
		return
	}
	for _, name := range g.site.NodeNames() {
		at := slices.IndexFunc(job.Tasks, func(t jobTask) bool { return t.Node == name })
		if at < 0 {
			b.Fail(o.ID, name, remedyJob, "the job printed nothing on %s", name)
			continue
		}
		t := job.Tasks[at]
		if t.GPUs != g.gpus() {
			b.Fail(o.ID, name, remedyGres, "the job has %d GPUs on %s, want %d", t.GPUs, name, g.gpus())
		}
		if g.pyxis() && t.Enroot == "" {
			b.Fail(o.ID, name, remedyEnroot, "enroot not found on %s", name)
		}
	}
}
