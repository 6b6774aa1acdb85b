package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/seen"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/plan"
)

// boardHops is the title of the board's group of hops.
const boardHops = "hops"

// autoscaleFlags are the flags of autoscale.
type autoscaleFlags struct {
	target   targetFlags
	chain    autoscale.Options
	evidence string
}

func newAutoscale(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "autoscale",
		Short: "Prove the metrics-driven autoscaling chain, hop by hop, up and down",
		Long: `autoscale proves that GPU load makes nodes, and that its end removes them: load,
DCGM sample, Prometheus, metrics API, HPA, pending pods, NodeClaims, nodes, bound
pods; and back. Every hop is an event that was seen: an object with its UID and the
time. Nodes and pods are followed by identity, and a control run shows that nothing
scales without load. A chain that breaks names the hop and the likely reason; one
that holds ends with a waterfall: where the time went, and which setting costs most.

Without --kubeconfig it works on the lab, which gets Karpenter if it has none. On a
cluster in use it is a guest: a namespace and a NodePool of its own, free GPUs, and
all of it removed at the end, also after a failure or an interrupt.

Exit codes: 0 passed; 1 something failed; 2 bad input; 3 could not be observed;
130 interrupted.`,
		Example: `  firstlight autoscale
  firstlight autoscale --metric custom
  firstlight autoscale --scheduler kai
  firstlight autoscale --site prod.yaml --kubeconfig ~/.kube/prod --pool gpu
  firstlight autoscale -o json`,
		Args: cobra.NoArgs,
	}
	f := &autoscaleFlags{}
	f.target.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.chain.Pool, "pool", "", "existing NodePool to use; without one, a NodePool of the run's own")
	flags.StringVar(&f.chain.Metric, "metric", metrics[0], "metrics API that the HPA scales on: "+strings.Join(metrics, " or "))
	flags.StringVar(&f.chain.Namespace, "namespace", "", "existing namespace for the workload; without one, a namespace of the run's own")
	flags.StringVar(&f.chain.Scheduler, "scheduler", schedulers[0], "scheduler of the workload: "+strings.Join(schedulers, " or "))
	flags.BoolVar(&f.chain.Keep, "keep", false, "leave what was created, for a look at it")
	flags.DurationVar(&f.chain.Patience, "patience", 2*time.Minute, "how long to wait for a hop beyond three times what its settings cost")
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory that runs are kept in")
	for name, values := range map[string][]string{"metric": metrics, "scheduler": schedulers} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			panic(err) // the flags were added above
		}
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runAutoscale(cmd.Context(), s, f, out) }
	cmd.AddCommand(newAutoscaleRules(s))
	return cmd
}

// The values of --metric and --scheduler; the first is the default.
var (
	metrics    = []string{"external", "custom"}
	schedulers = []string{"default", "kai"}
)

func (f *autoscaleFlags) check() error {
	if !slices.Contains(metrics, f.chain.Metric) {
		return usage("--metric %s: it is one of %s", f.chain.Metric, strings.Join(metrics, ", "))
	}
	if !slices.Contains(schedulers, f.chain.Scheduler) {
		return usage("--scheduler %s: it is one of %s", f.chain.Scheduler, strings.Join(schedulers, ", "))
	}
	if f.chain.Patience <= 0 {
		return usage("--patience %s: it is how long to wait for a hop, such as 2m", f.chain.Patience)
	}
	return f.target.check()
}

// labExtras are what a lab must have for the checks that are included.
func labExtras(include []string) []string {
	if slices.Contains(include, autoscale.Name) {
		return []string{component.ExtraAdapter, component.ExtraKarpenter}
	}
	return nil
}

// extras are what a lab must have for the chain.
func (f *autoscaleFlags) extras() []string {
	extras := labExtras([]string{autoscale.Name})
	if f.chain.Scheduler == "kai" {
		extras = append(extras, "kai")
	}
	return extras
}

func runAutoscale(ctx context.Context, s Streams, f *autoscaleFlags, out *format) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	board := newBoard(s.Err)
	closeBoard := onlyOnce(board.Close)
	defer closeBoard()
	t, err := f.target.reach(ctx, board, f.extras()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, infrastructure(t.close(ctx))) }()
	for _, phase := range seen.Chain() {
		for _, hop := range phase.Hops {
			board.Set(boardHops, hop, display.Waiting, "")
		}
	}
	chain := f.chain
	chain.Events = func(e autoscale.HopEvent) { showHopEvent(board, e) }
	walked, err := accept.Run(ctx, accept.Options{
		Site: t.site, Profile: t.profile, SiteFile: t.siteFile, ProfileFile: t.profileFile, Cluster: t.cluster,
		Playbook: func(w accept.Walk) (plan.Plan, error) {
			return gate.Chain(t.site, t.profile, chain, gate.Access{Hosts: t.hosts, Cluster: w.Cluster, RunID: w.RunID})
		},
		Charts:      gate.Charts(t.site, t.profile),
		EvidenceDir: f.evidence, Fresh: true, Keep: f.chain.Keep, ClusterEnds: t.owner != nil, Namespace: f.chain.Namespace, Hosts: t.hosts.Keys(),
		Tool: version, Command: f.command(), Versions: t.versions, Digests: t.digests,
		Events: func(e plan.Event) { showChainEvent(board, e) },
		Note:   func(text string) { board.Log("%s", text) },
	})
	closeBoard()
	if input, ok := errors.AsType[*accept.InputError](err); ok {
		return usage("%w", input)
	}
	if walked.Run == "" {
		return infrastructure(err)
	}
	r, readErr := chainReport(walked)
	writeErr := out.write(s.Out, r, func(w io.Writer) error {
		printChain(w, r, display.Style{Color: colourOf(s.Out)})
		return nil
	})
	if err := errors.Join(err, readErr, writeErr); err != nil {
		return infrastructure(err)
	}
	return verdictExit(r.Verdict)
}

// command is what the evidence says was asked for: the flags that matter, no paths.
func (f *autoscaleFlags) command() []string {
	command := []string{"firstlight", "autoscale"}
	for _, flag := range []struct{ name, value, usual string }{
		{"--pool", f.chain.Pool, ""}, {"--metric", f.chain.Metric, metrics[0]},
		{"--namespace", f.chain.Namespace, ""}, {"--scheduler", f.chain.Scheduler, schedulers[0]},
	} {
		if flag.value != flag.usual {
			command = append(command, flag.name, flag.value)
		}
	}
	if f.chain.Keep {
		command = append(command, "--keep")
	}
	return command
}

// showHopEvent puts how a hop stands on the board.
func showHopEvent(board *display.Board, e autoscale.HopEvent) {
	if e.Verdict == "" {
		board.Set(boardHops, e.Hop, display.Running, e.Reason)
		return
	}
	board.Set(boardHops, e.Hop, stateOf(e.Verdict), e.Reason)
}

// showChainEvent puts the rest of what a walk of the chain tells on the board.
func showChainEvent(board *display.Board, e plan.Event) {
	switch e.Kind {
	case plan.EventProgress:
		if !strings.HasPrefix(e.Text, "hop ") { // hops have rows of their own
			board.Progress(boardHops, autoscale.Name, e.Text)
		}
	case plan.EventVerdict:
		board.Set(boardHops, autoscale.Name, stateOf(e.Result.Verdict), e.Result.Reason)
	case plan.EventNote:
		board.Log("note: %s", e.Text)
	case plan.EventStarted:
		board.Set(boardHops, autoscale.Name, display.Running, "")
	case plan.EventPrepare, plan.EventKept, plan.EventObserved:
	}
}

// hopLine is one row of the table of hops.
func hopLine(style display.Style, h autoscale.HopReport) string {
	return fmt.Sprintf("  %-8s %-14s %s %8s %8s  %s", h.Phase, h.Hop, style.State(stateOf(h.Verdict), fmt.Sprintf("%-14s", h.Verdict)),
		secondsOf(h.Took), secondsOf(h.Budget), firstLine(h.Reason))
}
