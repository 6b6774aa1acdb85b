package drift

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/drift"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
)

// boardSteps is the title of the board's group of steps.
const boardSteps = "steps"

type driftFlags struct {
	target    cmdutil.TargetFlags
	evidence  string
	against   string
	keys      *[]string
	fresh     bool
	namespace string
	watch     watchFlags
	verbose   *bool
	out       *cmdutil.Output
}

// New is the command drift.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drift",
		Short: "Observe an accepted cluster again and compare it with its baseline",
		Long: `Compare drivers, firmware, images and profile with those of an accepted run, run the gates
collective, training and inference again, and compare their figures with the run's:
busbw, step time, TFLOPS, TTFT, TPOT. Pairs of nodes find a node that is a few per cent
slower than the others. A figure is as expected, or worse: warn or replace.

A changed driver, firmware, NCCL, image or profile is not drift: the figures are not
comparable, the verdict is unobserved, and firstlight accept makes the new baseline.

The baseline is the newest accepted run of the evidence directory with the same site, or
that of --against. The run uses free GPUs only, and a killed one is resumed, as accept.

--watch runs no gate: it repeats the commands of gate node that put no load on a node, until
SIGINT or SIGTERM, and prints only what changes: a node that fails, is not observed, or is ok
again, and a driver, VBIOS, firmware, GPU, profile or image that is not that of the accepted
run, with the command that accepts it. The lines are in a journal, EVIDENCE/watch/RUN, which the
next watch continues. --listen exports the state of each node as metrics.

Exit codes: 0 as expected; 1 worse, or a gate failed; 2 invalid input; 3 not observed;
130 interrupted. With --watch: 0 ended by SIGINT or SIGTERM; 1 the evidence of the run does
not verify; 2 invalid input, or another cluster; 3 the cluster could not be identified, the
address not listened on, or the journal not written.`,
		Example: `  # Compare the cluster with its newest accepted run
  firstlight drift --site prod.yaml --kubeconfig ~/.kube/prod

  # Compare with a certain run
  firstlight drift --against evidence/20261121-014233-7f3a

  # Compare with a recorded baseline
  firstlight drift --against prod.baseline.json

  # Watch the nodes between comparisons
  firstlight drift --watch --site prod.yaml --kubeconfig ~/.kube/prod --listen :9479`,
		Args: cobra.NoArgs,
	}
	f := &driftFlags{}
	f.target.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory of the runs")
	flags.StringVar(&f.against, "against", "", "directory of an accepted run, or file of a recorded baseline (default: the newest accepted run of the site)")
	flags.BoolVar(&f.fresh, "fresh", false, "begin a new run even if an unfinished one exists")
	flags.StringVar(&f.namespace, "namespace", "", "existing namespace to create everything in; it is not deleted (accept rbac prints the roles)")
	f.keys = addKeys(cmd)
	f.watch.add(cmd)
	f.verbose, f.out = report.AddVerboseFlag(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.watch.on {
			return f.runWatch(cmd.Context(), s)
		}
		return f.run(cmd.Context(), s)
	}
	cmd.AddCommand(newMetrics(s), newRules(s))
	return cmd
}

func (f *driftFlags) run(ctx context.Context, s cmdutil.Streams) (err error) {
	if err := errors.Join(f.target.Validate(), f.watch.unused()); err != nil {
		return err
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	t, err := f.target.Open(ctx, board)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(t.Close(ctx))) }()
	if f.against == "" {
		if f.against, err = newest(f.evidence, t.Site.Name, hasBaseline); err != nil {
			return err
		}
	}
	b, err := against(ctx, f.against, *f.keys)
	if err != nil {
		return err
	}
	if err := b.Comparable(); err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	if err := sameCluster(ctx, t, b.Run, b.Cluster); err != nil {
		return err
	}
	data, err := b.Encode()
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	o := t.RunOptions(board)
	o.Cluster = t.ControlPlane
	o.Inputs = map[string][]byte{drift.InputFile: data}
	o.Playbook = func(run accept.PlanContext) (plan.Plan, error) {
		reach := gate.Access{Hosts: t.Hosts, Cluster: run.Cluster, Monitored: t.WaitMonitored, Kubeconfig: t.Kubeconfig, RunID: run.RunID}
		return drift.Plan(t.Site, t.Profile, b, reach)
	}
	o.EvidenceDir, o.Fresh, o.Namespace = f.evidence, f.fresh, f.namespace
	o.Command = append([]string{"firstlight", "drift"}, cmdutil.FlagArgs([3]string{"--namespace", f.namespace})...)
	o.Events = func(e plan.Event) { cmdutil.ShowPlanEvent(board, boardSteps, e) }
	return cmdutil.Run(ctx, o, closeBoard, func(r accept.Report, _ error) (check.Verdict, error) {
		return r.Verdict, f.out.Write(s.Out, r, func(w io.Writer) { report.Acceptance(w, r, report.OptionsFor(s.Out, f.verbose)) })
	})
}

// sameCluster refuses the baseline of another cluster: sites may have the same name, and equal
// hardware has comparable figures.
func sameCluster(ctx context.Context, t *cmdutil.Target, run, cluster string) error {
	c, err := t.ControlPlane(ctx)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	uid, _, err := accept.Identify(ctx, c)
	if err != nil {
		return cmdutil.Unobserved(fmt.Errorf("identify the cluster: %w", err))
	}
	if uid != cluster {
		return cmdutil.UsageErrorf("run %s is of cluster %s, this is cluster %s (UID of namespace kube-system): run firstlight accept on this cluster first, or name a run of it with --against", run, cmp.Or(cluster, "unknown"), uid)
	}
	return nil
}

func hasBaseline(b *evidence.Bundle) error {
	_, err := drift.Of(b)
	return err
}

// newest is the directory of the newest accepted run of a site that usable does not refuse.
func newest(dir, site string, usable func(*evidence.Bundle) error) (string, error) {
	path, err := clievidence.Newest(dir, site, usable)
	if err == nil && path == "" {
		err = cmdutil.UsageErrorf("%s has no accepted run of site %s: run firstlight accept first, or name a run or baseline with --against", dir, site)
	}
	return path, err
}
