package collective

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence/chart"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/onhost"
	"github.com/firstlight/firstlight/internal/gate/slurmjob"
	"github.com/firstlight/firstlight/internal/probe/slurm"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// Srun is gate 6 of a Slurm cluster: nccl-tests with one task a GPU, started by srun on the
// login host. Its output is judged as that of pods.
type Srun struct {
	gate   *Gate
	hosts  Hosts
	runner slurmjob.Runner
}

// NewSrun returns the gate; hosts may be nil for a gate that only judges.
func NewSrun(s *site.Site, p *profile.Profile, hosts Hosts, runID string) *Srun {
	g := &Srun{gate: New(s, p, Deps{}), hosts: hosts, runner: slurmjob.Runner{Deps: onhost.Deps{Hosts: hosts}.WithDefaults(), Site: s, RunID: runID}}
	g.gate.srun = g
	g.gate.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil } // there are no pods
	return g
}

// Name implements check.Check.
func (g *Srun) Name() string { return Name }

// Claims is the number of GPUs that the gate uses.
func (g *Srun) Claims() int { return g.gate.Claims() }

// Lowered implements plan.Lowers.
func (g *Srun) Lowered() []string { return g.gate.Lowered() }

// Charts draws the bandwidth.
func (g *Srun) Charts(obs []check.Observation) []chart.Chart { return g.gate.Charts(obs) }

// Excluding implements plan.Excluding.
func (g *Srun) Excluding(nodes []string) check.Check {
	return NewSrun(g.gate.site.Without(nodes), g.gate.profile, g.hosts, g.runner.RunID)
}

// Describe lists the commands of Observe.
func (g *Srun) Describe() []string {
	return append([]string{
		"on " + g.gate.site.Slurm.Host() + ": " + strings.Join(slurm.NodesCommand(g.gate.nodes()), " ") + "; nothing else if one of them runs jobs",
		"on " + g.gate.site.Slurm.Host() + ": " + g.gate.command(g.gate.all(tests[0])),
		"read the transports in NCCL's log (NCCL_DEBUG=INFO)",
		g.gate.describeLocalising(),
	}, g.gate.describeRest()...)
}

// Observe implements check.Check.
func (g *Srun) Observe(ctx context.Context, rec check.Recorder) error {
	if g.hosts == nil {
		return fmt.Errorf("observe the collective: %w", errNoHosts)
	}
	return g.gate.Observe(ctx, rec)
}

// Judge implements check.Check.
func (g *Srun) Judge(obs []check.Observation) check.Judgement { return g.gate.Judge(obs) }

func (g *Srun) slurmName(job string) string {
	return slurmjob.Name(job, g.runner.RunID)
}

// argv is one repetition on some nodes.
func (g *Srun) argv(j job) []string {
	s, gpus := g.gate.site, g.gate.gpus()
	timeout := s.Workloads.Collective.Timeout.D()
	argv := append(s.SrunCommand(g.slurmName(j.name()), j.nodes, gpus, timeout), "--ntasks-per-node="+strconv.Itoa(gpus),
		"--immediate="+strconv.Itoa(max(1, int(s.Slurm.JobTimeout.D().Seconds()))), "--kill-on-bad-exit=1")
	if s.Slurm.MPI != "" {
		argv = append(argv, "--mpi="+s.Slurm.MPI)
	}
	if s.Slurm.Containers == site.ContainersPyxis {
		argv = append(argv, "--container-image="+s.Workloads.Collective.Image)
	}
	if s.Slurm.Setup != "" { // in a shell, which srun does not have
		argv = append(argv, "bash", "-ec", s.Slurm.Setup+"\nexec \"$@\"", "bash")
	}
	argv = append(argv, "env", "NCCL_DEBUG=INFO")
	if g.gate.byDomain() {
		argv = append(argv, "NCCL_DEBUG_SUBSYS="+domainSubsystems)
	}
	if hcas := g.gate.hcas(j.rail); len(hcas) > 0 { // "=" alone would select no device
		argv = append(argv, "NCCL_IB_HCA=="+strings.Join(hcas, ","))
	}
	least, most := g.gate.sizes()
	return append(argv, j.test.program, "-b", least, "-e", most, "-f", "2", "-g", "1")
}

// run runs the repetitions until one fails; its log is that of all of them. The error is only for an
// ended context.
func (g *Srun) run(ctx context.Context, j job) (gangjob.Outcome, []gangjob.Log, error) {
	var log bytes.Buffer
	outcome := gangjob.Outcome{Ended: gangjob.EndedDone, Succeeded: true}
	for range j.repetitions {
		var err error
		if outcome, err = g.once(ctx, j, &log); err != nil {
			return outcome, nil, fmt.Errorf("run %s: %w", j.name(), err)
		}
		if !outcome.Succeeded {
			break
		}
	}
	return outcome, []gangjob.Log{{Data: log.Bytes()}}, nil
}

// once is one repetition, a job of its own with its own time limit; srun waits for the nodes before it. The error is
// only for an ended context.
func (g *Srun) once(ctx context.Context, j job, log *bytes.Buffer) (gangjob.Outcome, error) {
	nodes, err := g.runner.Free(ctx, j.nodes)
	if err != nil {
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "the job was not started: " + err.Error()}, ctx.Err()
	}
	s := g.gate.site
	limited, cancel := context.WithTimeout(ctx, s.Workloads.Collective.Timeout.D()+s.Slurm.JobTimeout.D())
	defer cancel()
	out, err := g.hosts.Run(limited, s.Slurm.Host(), g.argv(j)...)
	log.Write(out.Stdout)
	log.Write(out.Stderr)
	var left error // why the job may still run
	if limited.Err() != nil || err != nil {
		left = slurm.Cancel(ctx, func(ctx context.Context, argv ...string) (ssh.Output, error) {
			return g.hosts.Run(ctx, s.Slurm.Host(), argv...)
		}, g.slurmName(j.name()))
	}
	if ctx.Err() != nil {
		return gangjob.Outcome{}, errors.Join(ctx.Err(), left)
	}
	outcome := g.outcome(j.test.program, out, err, limited.Err())
	outcome.Hosts = hostsOf(nodes)
	if left != nil {
		outcome.Problem += "; " + left.Error()
	}
	if outcome.Succeeded || outcome.Ended != gangjob.EndedDone {
		return outcome, nil
	}
	return g.ended(ctx, j, outcome, out), ctx.Err()
}

// hostsOf are the names of machines that are not those of their nodes, with the node: NCCL prints host names. Several
// nodes of one machine have none.
func hostsOf(nodes []slurm.Node) map[string]string {
	out, several := map[string]string{}, map[string]bool{}
	for _, n := range nodes {
		several[n.Host] = several[n.Host] || out[n.Host] != ""
		if n.Host != "" && n.Host != n.Name {
			out[n.Host] = n.Name
		}
	}
	maps.DeleteFunc(out, func(host, _ string) bool { return several[host] })
	return out
}

// ended is the outcome of a job whose srun has failed, with its end as Slurm has it and the nodes that failed under it.
func (g *Srun) ended(ctx context.Context, j job, outcome gangjob.Outcome, out ssh.Output) gangjob.Outcome {
	last, err := g.runner.Last(ctx, g.slurmName(j.name()))
	if err != nil {
		outcome.Problem += "; " + err.Error()
	} else {
		outcome.Problem += fmt.Sprintf("; job %s is %s", last.ID, last.State)
	}
	switch {
	case slurmjob.Unrelated(last.State):
		outcome.Ended = gangjob.EndedNotRun
		return outcome
	case last.State == "TIMEOUT" && g.importing(out):
		outcome.Ended, outcome.Problem = gangjob.EndedNotRun, importProblem+outcome.Problem
		return outcome
	case last.State == "TIMEOUT":
		outcome.Ended = gangjob.EndedTimeout
	}
	outcome.Lost = g.runner.Lost(ctx, j.nodes, string(out.Stderr))
	return outcome
}

// importProblem begins the problem of a job whose time was over before its program had output.
const importProblem = "the program did not begin in time, the image may still have been imported on a node (use a squashfs file on a shared file system, or raise workloads.collective.timeout): "

// importing reports whether a container may not have been started yet: Pyxis imports and unpacks the image at each
// srun, which took 7 and 20 minutes (NVIDIA/pyxis issues 24 and 40). nccl-tests prints its head before anything that
// can hang in NCCL.
func (g *Srun) importing(out ssh.Output) bool {
	return g.gate.site.Slurm.Containers == site.ContainersPyxis && len(bytes.TrimSpace(out.Stdout)) == 0
}

// notStarted are texts of srun about a job that did not start.
var notStarted = []string{
	"Unable to allocate resources", "Unable to create step", "Prolog failure", "allocation", "Something is wrong with the boot", "unrecognized option", "invalid option",
}

// outcome is the end of one srun.
func (g *Srun) outcome(program string, out ssh.Output, err, timeout error) gangjob.Outcome {
	text := strings.ToValidUTF8(string(bytes.TrimSpace(out.Stderr)), "?")
	text = text[max(0, len(text)-400):]
	refused := slices.ContainsFunc(notStarted, func(part string) bool { return strings.Contains(text, "srun: ") && strings.Contains(text, part) })
	silent, container := len(bytes.TrimSpace(out.Stdout)) == 0, slurmjob.ContainerProblem(string(out.Stderr))
	switch {
	case timeout != nil && g.importing(out):
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: importProblem + "it had no output after " + g.gate.site.Workloads.Collective.Timeout.D().String()}
	case timeout != nil:
		return gangjob.Outcome{Ended: gangjob.EndedTimeout, Problem: "it still ran after " + g.gate.site.Workloads.Collective.Timeout.D().String()}
	case err != nil:
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: err.Error()}
	case out.Exit == exitNotFound:
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: fmt.Sprintf("srun or %s not found (the PATH is that of a non-interactive login; slurm.setup can load modules for jobs): %s", program, text)}
	case out.Exit != 0 && refused && silent:
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "the job did not start: " + text}
	case out.Exit != 0 && container != "" && silent:
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "a container was not started: " + container}
	case out.Exit != 0:
		return gangjob.Outcome{Ended: gangjob.EndedDone, Problem: fmt.Sprintf("srun exited with code %d", out.Exit)}
	default:
		return gangjob.Outcome{Ended: gangjob.EndedDone, Succeeded: true}
	}
}
