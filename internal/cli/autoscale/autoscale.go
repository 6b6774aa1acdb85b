// Package autoscale has the command autoscale.
package autoscale

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/plan"
)

// boardHops is the title of the board's group of hops.
const boardHops = "hops"

// The values of --metric and --scheduler; the first is the default.
var (
	metrics    = []string{"external", "custom"}
	schedulers = []string{"default", "kai"}
)

type autoscaleFlags struct {
	target    cmdutil.TargetFlags
	chain     autoscale.Options
	namespace string
	evidence  string
	out       *cmdutil.Output
}

// New is the command autoscale.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "autoscale",
		Short: "Prove the metrics-driven autoscaling chain, hop by hop, up and down",
		Long: `Prove that GPU load adds nodes and that its end removes them: load, DCGM sample,
Prometheus, metrics API, HPA, pending pods, NodeClaims, nodes, bound pods; and back. Each
hop is an observed event: an object with its UID and the time. Nodes and pods are followed
by identity, and a control run shows that nothing scales without load. A broken chain
names the hop and the likely cause. A working chain ends with a waterfall: where the time
went, and which setting costs most.

Without --kubeconfig it uses the lab, and adds Karpenter to it. On a cluster in use it
creates its own namespace and NodePool, uses free GPUs only, and removes everything at
the end, also after a failure or an interrupt.

Exit codes: 0 passed; 1 failed; 2 invalid input; 3 not observed; 130 interrupted.`,
		Example: `  # Prove the chain on the lab
  firstlight autoscale

  # Scale on the custom metrics API, with KAI as the scheduler
  firstlight autoscale --metric custom --scheduler kai

  # Prove the chain of a cluster, with an existing NodePool
  firstlight autoscale --site prod.yaml --kubeconfig ~/.kube/prod --pool gpu`,
		Args: cobra.NoArgs,
	}
	f := &autoscaleFlags{}
	f.target.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.chain.Pool, "pool", "", "existing NodePool to use (default: create one)")
	flags.StringVar(&f.chain.Metric, "metric", metrics[0], "metrics API that the HPA scales on: "+strings.Join(metrics, " or "))
	flags.StringVar(&f.namespace, "namespace", "", "existing namespace for the workload (default: create one)")
	flags.StringVar(&f.chain.Scheduler, "scheduler", schedulers[0], "scheduler of the workload: "+strings.Join(schedulers, " or "))
	flags.BoolVar(&f.chain.Keep, "keep", false, "keep the created objects for inspection")
	flags.DurationVar(&f.chain.HopTimeout, "hop-timeout", 2*time.Minute, "time to wait for a hop in addition to three times the delay of its settings")
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory of the runs")
	cmdutil.CompleteFlag(cmd, "metric", metrics)
	cmdutil.CompleteFlag(cmd, "scheduler", schedulers)
	f.out = cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), s) }
	cmd.AddCommand(newRules(s))
	return cmd
}

func (f *autoscaleFlags) validate() error {
	if !slices.Contains(metrics, f.chain.Metric) {
		return cmdutil.UsageErrorf("unknown --metric %q: want one of %s", f.chain.Metric, strings.Join(metrics, ", "))
	}
	if !slices.Contains(schedulers, f.chain.Scheduler) {
		return cmdutil.UsageErrorf("unknown --scheduler %q: want one of %s", f.chain.Scheduler, strings.Join(schedulers, ", "))
	}
	if f.chain.HopTimeout <= 0 {
		return cmdutil.UsageErrorf("invalid --hop-timeout %s: must be positive", f.chain.HopTimeout)
	}
	return f.target.Validate()
}

func (f *autoscaleFlags) run(ctx context.Context, s cmdutil.Streams) (err error) {
	if err := f.validate(); err != nil {
		return err
	}
	extras := cmdutil.LabExtras([]string{autoscale.Name})
	if f.chain.Scheduler == "kai" {
		extras = append(extras, "kai")
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	t, err := f.target.Open(ctx, board, extras...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(t.Close(ctx))) }()
	for _, phase := range snapshot.Chain() {
		for _, hop := range phase.Hops {
			board.Set(boardHops, hop, display.Waiting, "")
		}
	}
	chain := f.chain
	chain.Events = func(e autoscale.HopEvent) {
		state := display.Running
		if e.Verdict != "" {
			state = cmdutil.StateOf(e.Verdict)
		}
		board.Set(boardHops, e.Hop, state, e.Reason)
	}
	o := t.RunOptions(board)
	o.Playbook = func(run accept.PlanContext) (plan.Plan, error) {
		return gate.Chain(t.Site, t.Profile, chain, gate.Access{Hosts: t.Hosts, Cluster: run.Cluster, RunID: run.RunID})
	}
	o.EvidenceDir, o.Fresh, o.Keep, o.Namespace, o.Command = f.evidence, true, f.chain.Keep, f.namespace, f.command()
	o.Events = func(e plan.Event) {
		if e.Kind == plan.EventProgress && strings.HasPrefix(e.Text, "hop ") {
			return // hops have their own rows
		}
		cmdutil.ShowPlanEvent(board, boardHops, e)
	}
	return cmdutil.Run(ctx, o, closeBoard, func(accepted accept.Report, _ error) (check.Verdict, error) {
		r, readErr := report.NewChain(accepted)
		writeErr := f.out.Write(s.Out, r, func(w io.Writer) { r.Print(w, report.Options{Style: cmdutil.StyleOf(s.Out)}) })
		return r.Verdict, errors.Join(readErr, writeErr)
	})
}

// command is the command line in the evidence: the flags that select checks, without paths.
func (f *autoscaleFlags) command() []string {
	command := append([]string{"firstlight", "autoscale"}, cmdutil.FlagArgs(
		[3]string{"--pool", f.chain.Pool}, [3]string{"--metric", f.chain.Metric, metrics[0]},
		[3]string{"--namespace", f.namespace}, [3]string{"--scheduler", f.chain.Scheduler, schedulers[0]},
	)...)
	if f.chain.Keep {
		command = append(command, "--keep")
	}
	return command
}

func newRules(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Print prometheus-adapter rules for GPU metrics",
		Long: `Print the configuration with which prometheus-adapter serves the metrics of
dcgm-exporter: external (dcgm_gpu_power_usage, dcgm_gpu_utilization, dcgm_gpu_memory_used)
and custom, per pod and namespace (gpu_* and workload_gpu_*, depending on honor_labels in
Prometheus). The lab's adapter uses the same rules. Put them into the adapter's ConfigMap
and restart it.`,
		Example: `  firstlight autoscale rules
  firstlight autoscale rules --window 30s > adapter-config.yaml`,
	}
	window := cmd.Flags().Duration("window", adapterrules.DefaultWindow, "time window of each average; at least two scrape intervals")
	cmd.RunE = func(*cobra.Command, []string) error {
		text, err := adapterrules.Render(*window)
		if err != nil {
			return cmdutil.UsageErrorf("--window: %w", err)
		}
		_, err = io.WriteString(s.Out, text)
		return cmdutil.Unobserved(err)
	}
	return cmd
}
