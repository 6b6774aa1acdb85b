// Package accept has the commands accept and plan.
package accept

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/capacity"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// boardGates is the title of the board's group of gates.
const boardGates = "gates"

type acceptFlags struct {
	target    cmdutil.TargetFlags
	evidence  string
	resume    string
	fresh     bool
	from      string
	only      string
	include   []string
	allowed   int
	namespace string
	preflight bool
	soak      time.Duration
	soakEvery time.Duration
	page      bool
	add       addFlags
	verbose   *bool
	out       *cmdutil.Output
}

// New is the command accept.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Run the eight gates in order, stop at the first that does not pass, keep the evidence",
		Long: `Run the bring-up playbook: facility, fabric, node, gpustack, telemetry, collective,
training, inference. A gate passes when its criterion was observed. A gate that does not
pass blocks the gates that need it; its findings name the suspect and the remedy.

Without --kubeconfig it uses the running lab, or starts a lab and stops it at the end.
--spine names another kind of cluster to accept:

  single-node  this machine, without Kubernetes and without a site file: gate fabric checks
               its NVLinks, collective runs all_reduce_perf over its GPUs, gates that need
               a cluster do not apply. It exits 3 without a GPU, or a profile for it.
  slurm        the Slurm cluster of --site: gates gpustack and telemetry check its nodes,
               resources, prolog, epilog and accounting, collective runs through srun,
               training through sbatch.
  ray          the RayCluster of --site, or one that KubeRay creates in the lab: gate
               gpustack checks its operator, pods, resources and placement groups.
  k3s          the k3s cluster of --site, or a k3s lab: gate gpustack also checks that
               every node runs k3s, its version skew, containerd and packaged components.

An unfinished run is resumed if cluster, hosts, site, profile and checks are the same and
no verdict is older than a week. Otherwise the differences are printed and a new run
begins. A run of another live process is not touched, nor are its objects in the cluster.
The verdict covers the whole playbook on this cluster; verdicts kept from an earlier run,
skipped steps, exemptions and lowered limits are printed with it.

With --allow-failed N at most N nodes that fail gates 1 to 3 are left out: the other gates
run without them, if the rest passes. The verdict is then partial, for example "passed on 7
of 8 nodes, 1 left out", with the findings. Failures that are not limited to single nodes,
and nodes that could not be observed, are not left out. Nothing is cordoned.

With --preflight it runs no gate. It prints, in about a minute and without load, the
obstacles to this run: hosts and their tools, permissions, namespace, nodes, images,
Prometheus, Alertmanager, Redfish. It changes nothing: it reads, and sends dry-run
requests to the API server. Exit codes: 0 no obstacle; 1 an obstacle; 3 no obstacle, but
something could not be observed.

With --add nodes.yaml it adds new nodes, behind a cordon, to an accepted run of the cluster:
gate node on each new node, then each in a pair with an accepted node, then gate collective
on all accepted nodes and the new ones that passed. A new node that fails is named and left
out, the others are accepted. The run of --to, or the newest accepted one of the site, must
verify, and be of this cluster. Its nodes must be free. Nothing is cordoned or uncordoned.

With --soak 72h it repeats until the duration is over, each repetition a run with evidence
of its own, and prints which verdicts, findings and figures changed. The same command
continues a soak that was killed or interrupted. It passes if every repetition that was not
interrupted passed, and no gap between them was longer than an hour, or than a tenth of the
duration if that is shorter.

Exit codes: 0 passed or partial; 1 failed; 2 invalid input; 3 not observed; 130 interrupted.`,
		Example: `  # Run all gates on the lab
  firstlight accept

  # Find obstacles to a run, without load or changes
  firstlight accept --preflight --site prod.yaml --kubeconfig ~/.kube/prod

  # Run the gates of one machine on the machine itself
  firstlight accept --spine single-node

  # Run the gates of a Slurm cluster
  firstlight accept --spine slurm --site prod.yaml

  # Run the gates of a RayCluster in the lab
  firstlight accept --spine ray

  # Run the gates on a k3s lab
  firstlight accept --spine k3s

  # Run all gates on a lab with NVIDIA's own GPU Operator
  firstlight accept --stack real

  # Run all gates on a cluster
  firstlight accept --site prod.yaml --kubeconfig ~/.kube/prod --context admin

  # After a driver upgrade: keep the verdicts of gates 1 and 2
  firstlight accept --from node

  # After a change of fabric settings: keep the verdicts of gates 1 to 5
  firstlight accept --from collective

  # Run one gate and print JSON
  firstlight accept --only fabric -o json

  # Accept the cluster without at most one node that fails gates 1 to 3
  firstlight accept --allow-failed 1

  # Add new nodes, which are cordoned, to the newest accepted run
  firstlight accept --add nodes.yaml --site prod.yaml

  # Also prove the autoscaling chain
  firstlight accept --include autoscale

  # Burn in for three days, a repetition every two hours
  firstlight accept --site prod.yaml --soak 72h --soak-every 2h

  # Resume the latest unfinished run
  firstlight accept --resume latest`,
		Args: cobra.NoArgs,
	}
	f := &acceptFlags{}
	f.target.Add(cmd)
	f.target.AddStack(cmd)
	f.target.AddSpine(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory of the runs")
	flags.StringVar(&f.resume, "resume", "", "resume this run (ID or latest)")
	flags.BoolVar(&f.fresh, "fresh", false, "begin a new run even if an unfinished one exists")
	flags.StringVar(&f.from, "from", "", "run from this gate on (name or number); earlier verdicts are kept with their dates")
	flags.StringVar(&f.only, "only", "", "run this gate alone (name or number)")
	flags.StringSliceVar(&f.include, "include", nil, "run these checks in addition to the gates: "+strings.Join(gate.Extras(), ", "))
	flags.IntVar(&f.allowed, "allow-failed", 0, "leave out at most this many nodes that fail gates 1 to 3; the verdict is then partial")
	flags.StringVar(&f.namespace, "namespace", "", "existing namespace to create everything in; it is not deleted (accept rbac prints the roles)")
	flags.BoolVar(&f.page, "page", false, "notify the alert receiver even if it pages people; inform the people on call first")
	flags.BoolVar(&f.preflight, "preflight", false, "print the obstacles to this run, without running a gate")
	flags.DurationVar(&f.soak, "soak", 0, "repeat the acceptance for this long, such as 72h, and print what changed")
	flags.DurationVar(&f.soakEvery, "soak-every", 0, "time from the start of a repetition to the next; 0: one after the other")
	f.add.register(cmd)
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh", "from", "only")
	for _, other := range []string{"resume", "from", "only", "preflight", "page"} {
		cmd.MarkFlagsMutuallyExclusive("soak", other)
	}
	for _, other := range []string{"namespace", "include", "preflight", "page"} {
		cmd.MarkFlagsMutuallyExclusive("spine", other)
	}
	cmd.MarkFlagsMutuallyExclusive("preflight", "resume")
	cmd.MarkFlagsMutuallyExclusive("preflight", "fresh")
	cmd.MarkFlagsMutuallyExclusive("resume", "include")
	cmdutil.CompleteFlag(cmd, "include", gate.Extras())
	cmdutil.CompleteFlag(cmd, "from", site.Gates())
	cmdutil.CompleteFlag(cmd, "only", site.Gates())
	f.verbose, f.out = report.AddVerboseFlag(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) }
	cmd.AddCommand(newRBAC(s), newSudoers(s))
	return cmd
}

func (f *acceptFlags) run(ctx context.Context, s cmdutil.Streams) (err error) {
	if err := f.parse(); err != nil {
		return err
	}
	if err := f.target.Validate(); err != nil {
		return err
	}
	if err := f.validateSoak(); err != nil {
		return err
	}
	if err := f.add.read(&f.target); err != nil {
		return err
	}
	if f.preflight {
		return f.runPreflight(ctx, s)
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	steps := append(site.Gates(), f.include...)
	if f.add.file != "" {
		steps = capacity.Steps()
	}
	for _, name := range steps {
		board.Set(boardGates, name, display.Waiting, "")
	}
	t, err := f.target.Open(ctx, board, cmdutil.LabExtras(f.include)...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(t.Close(ctx))) }()

	if err := f.clusterFlags(t.Site); err != nil {
		return err
	}
	if err := f.podReferences(t.Site); err != nil {
		return err
	}
	o := t.RunOptions(board)
	o.Cluster = t.ControlPlane
	var addition *capacity.Addition
	if f.add.file != "" {
		if addition, err = f.add.toRun(ctx, t, f.evidence); err != nil {
			return err
		}
		if err := addition.Into(&o); err != nil {
			return cmdutil.Unobserved(err)
		}
	}
	o.Playbook = func(run accept.PlanContext) (plan.Plan, error) {
		reach := gate.Access{Hosts: t.Hosts, Dial: t.Hosts.Dial, Cluster: run.Cluster, Monitored: t.WaitMonitored, Kubeconfig: t.Kubeconfig, Page: f.page, RunID: run.RunID, Killed: run.Killed}
		if addition != nil {
			return capacity.Plan(t.Site, t.Profile, *addition, reach)
		}
		p, err := gate.Playbook(t.Site, t.Profile, reach, run.Include...)
		p.AllowFailed = f.allowed
		return p, err
	}
	o.AllowFailed = f.allowed
	o.EvidenceDir, o.Resume, o.Fresh, o.From, o.Only, o.Include = f.evidence, f.resume, f.fresh, f.from, f.only, f.include
	o.Namespace, o.Command = f.namespace, f.command()
	o.Events = func(e plan.Event) { cmdutil.ShowPlanEvent(board, boardGates, e) }
	if f.soak > 0 {
		return f.runSoak(ctx, s, o, board, closeBoard)
	}
	return cmdutil.Run(ctx, o, closeBoard, func(r accept.Report, _ error) (check.Verdict, error) {
		return r.Verdict, f.out.Write(s.Out, r, func(w io.Writer) { report.Acceptance(w, r, report.OptionsFor(s.Out, f.verbose)) })
	})
}

// clusterFlags refuses flags without an effect on a site without Kubernetes.
func (f *acceptFlags) clusterFlags(s *site.Site) error {
	for flag, set := range map[string]bool{"--namespace": f.namespace != "", "--include": len(f.include) > 0, "--preflight": f.preflight, "--page": f.page} {
		if set && !s.Kubernetes() {
			return cmdutil.UsageErrorf("%s needs a Kubernetes cluster: spine %s has none", flag, s.Spine)
		}
	}
	return nil
}

// podReferences refuses a run whose pods refer to objects of a namespace that the run would create.
func (f *acceptFlags) podReferences(s *site.Site) error {
	gates := site.Gates()
	switch {
	case f.only != "":
		gates = []string{f.only}
	case f.add.file != "":
		gates = []string{node.Name, collective.Name}
	}
	refs := s.PodReferences(gates)
	if len(refs) == 0 || f.namespace != "" || f.resume != "" {
		return nil
	}
	return cmdutil.UsageErrorf("the pods of the site refer to %s, and the run would create its own namespace: give the namespace that has them with --namespace",
		strings.Join(refs, ", "))
}

// command is the command line in the evidence: the flags that select checks, without paths.
func (f *acceptFlags) command() []string {
	allowed := ""
	if f.allowed > 0 {
		allowed = strconv.Itoa(f.allowed)
	}
	args := []string{"firstlight", "accept"}
	if f.page {
		args = append(args, "--page")
	}
	if f.add.file != "" {
		args = append(args, "--add", capacity.InputFile)
	}
	return append(args, cmdutil.FlagArgs(
		[3]string{"--from", f.from}, [3]string{"--only", f.only}, [3]string{"--namespace", f.namespace},
		[3]string{"--include", strings.Join(f.include, ",")}, [3]string{"--allow-failed", allowed},
	)...)
}

// parse validates --include and --allow-failed and replaces gate numbers by names.
func (f *acceptFlags) parse() error {
	if f.allowed < 0 {
		return cmdutil.UsageErrorf("invalid --allow-failed %d: must not be negative", f.allowed)
	}
	for i, name := range f.include {
		if !slices.Contains(gate.Extras(), name) {
			return cmdutil.UsageErrorf("unknown check %q in --include: want %s", name, strings.Join(gate.Extras(), ", "))
		}
		if slices.Contains(f.include[:i], name) {
			return cmdutil.UsageErrorf("duplicate %s in --include", name)
		}
	}
	var err error
	for _, name := range []*string{&f.from, &f.only} {
		if slices.Contains(f.include, *name) {
			continue
		}
		if *name, err = gateName(*name); err != nil {
			return err
		}
	}
	return nil
}

// gateName is the name of a gate that is given by name or number (from 1).
func gateName(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	for i, g := range site.Gates() {
		if s == g || s == fmt.Sprint(i+1) {
			return g, nil
		}
	}
	return "", cmdutil.UsageErrorf("unknown gate %q: want one of %s, or 1 to %d", s, strings.Join(site.Gates(), ", "), len(site.Gates()))
}
