package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/schedule"
)

type scheduleFlags struct {
	recipes  cmdutil.RecipeFlags
	choice   scheduleChoice
	jobs     int
	perPlane int
	evidence string

	distribute distributeFlags
	publish    publishFlags
	record     recordFlags
}

func newTest(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [RECIPE...]",
		Short: "Test that recipes schedule on simulated nodes with the real scheduler",
		Long: `Put each recipe on a control plane of unmodified Kubernetes: nodes of its provider's
profile, the pods of its components and of their operators, and a GPU workload for its
intent. A recipe passes if every pod exists and is bound to a node of its class,
DaemonSets cover exactly their nodes, and the gang is bound as a whole. Negative controls
must fail: the GPU workload without its toleration, on half the GPUs, on another
architecture, half a gang, an operand without its selector.

Tier 1 are the generic recipes (a service, any accelerator), tier 2 those that the changes
since --base affect in the files of --recipes, tier 3 all. In tiers 1 and 2 one recipe of
each class represents the others (firstlight recipe classes); in tier 3 each is tested, and
a class whose members disagree fails.

The control plane is temporary; nothing else is changed. The observations are kept as
evidence: firstlight evidence replay judges them again.

With --distribute kubernetes the same test runs as a Job in a cluster: one shard for 64
recipes, each with its own control plane, merged to one report. In that cluster it uses
its own namespace and pods that preempt nothing, and removes everything at the end.

The test does not cover drivers, fabric or images: those need hardware.

Exit codes: 0 passed; 1 failed; 2 invalid input; 3 not observed; 130 interrupted.`,
		Example: `  # Test one recipe
  firstlight recipe test h100-eks-ubuntu-training

  # Test every recipe
  firstlight recipe test --all

  # Test the recipes that a change affects
  firstlight recipe test --tier 2 --base origin/main --recipes recipes -o json

  # Test another tree, in a cluster
  firstlight recipe test --all --recipes ../our-recipes --distribute kubernetes --image registry.example.com/firstlight:1 --shards 4`,
		Args: cobra.ArbitraryArgs,
	}
	f := &scheduleFlags{}
	f.recipes.Add(cmd)
	f.choice.add(cmd)
	f.distribute.add(cmd)
	f.publish.add(cmd)
	f.record.add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.jobs, "jobs", 8, "number of recipes tested at a time")
	flags.IntVar(&f.perPlane, "per-plane", 256, "number of recipes after which the control plane is replaced")
	flags.StringVar(&f.evidence, "evidence", filepath.Join("evidence", "recipes"), "directory of the runs")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runTest(cmd.Context(), s, f, args, out) }
	return cmd
}

func (f *scheduleFlags) check() error {
	if f.jobs < 1 {
		return cmdutil.UsageErrorf("invalid --jobs %d: must be at least 1", f.jobs)
	}
	if f.perPlane < 1 {
		return cmdutil.UsageErrorf("invalid --per-plane %d: must be at least 1", f.perPlane)
	}
	if err := f.publish.check(); err != nil {
		return err
	}
	return f.distribute.check(&f.choice)
}

// boardRecipes is the title of the board's group of recipes.
const boardRecipes = "recipes"

func runTest(ctx context.Context, s cmdutil.Streams, f *scheduleFlags, args []string, out *cmdutil.Output) error {
	if err := f.check(); err != nil {
		return err
	}
	t, err := f.recipes.Open(s)
	if err != nil {
		return err
	}
	source, problems := schedule.Open(t)
	if err := problems.Err(); err != nil {
		return cmdutil.UsageErrorf("%w\nfirstlight recipe lint %s shows all problems", err, t.Label)
	}
	chosen, why, err := f.chosen(ctx, source, args)
	if err != nil {
		return err
	}
	begun, err := f.record.begin(ctx, t, f.recipes.Dir, chosen.Tier)
	if err != nil {
		return err
	}
	if len(chosen.Cases) == 0 {
		report := chosen.Report(t.Label, schedule.Outcome{})
		report.Reason = why
		return f.finish(ctx, s, out, report)
	}
	if f.distribute.where != "" {
		return runDistributed(ctx, s, f, t.Label, chosen, out)
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	progress := &scheduleProgress{board: board, total: len(chosen.Cases)}
	outcome, err := schedule.Test(ctx, schedule.Options{
		Selection: chosen,
		Open:      func(ctx context.Context, _ func(string)) (schedule.ControlPlane, error) { return openPlane(ctx, board) },
		Jobs:      f.jobs, PerPlane: f.perPlane, EvidenceDir: f.evidence,
		Header: evidence.Header{Tool: cmdutil.Version, Command: f.command(args), Simulated: evidence.HardwareSimulated, SimulatedWhy: "nodes are objects without kubelets"},
		Events: progress.show,
	})
	closeBoard()
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	if outcome.Interrupted {
		return cmdutil.Unobserved(errors.Join(ctx.Err(), fmt.Errorf("interrupted: %d recipes without a verdict; the observations are in %s", len(outcome.Pending), outcome.Evidence)))
	}
	report := chosen.Report(t.Label, outcome)
	if err := f.record.end(begun, report, time.Now()); err != nil {
		return err
	}
	return f.finish(ctx, s, out, report)
}

// chosen are the recipes of a part of a plan, or those of names and flags.
func (f *scheduleFlags) chosen(ctx context.Context, source *schedule.Source, args []string) (s schedule.Selection, why string, err error) {
	planned, level, err := f.record.read()
	if err != nil {
		return s, "", err
	}
	if len(planned) > 0 {
		if len(args) > 0 || f.choice.all || f.choice.tier != 0 {
			return s, "", cmdutil.UsageErrorf("--plan cannot be used with names, --all or --tier")
		}
		if err := isPlanOf(ctx, f.record.planned, source.Tree()); err != nil {
			return s, "", err
		}
		args = planned
	}
	return f.choice.choose(ctx, source, f.recipes.Dir, args, level)
}

// finish prints a report. The report of a shard is also published; its verdict decides no
// exit code.
func (f *scheduleFlags) finish(ctx context.Context, s cmdutil.Streams, out *cmdutil.Output, r schedule.Report) error {
	err := finishTest(s, out, r)
	if f.publish.to == "" {
		return err
	}
	return f.publish.publish(ctx, r, f.choice.shard, f.choice.shards)
}

func finishTest(s cmdutil.Streams, out *cmdutil.Output, r schedule.Report) error {
	if err := out.Write(s.Out, r, func(w io.Writer) { printSchedule(w, r, cmdutil.StyleOf(s.Out)) }); err != nil {
		return err
	}
	return cmdutil.VerdictError(r.Verdict)
}

// command is the command line in the evidence.
func (f *scheduleFlags) command(args []string) []string {
	command := append([]string{"firstlight", "recipe", "test"}, args...)
	command = append(command, f.choice.command()...)
	if f.record.plan != "" {
		command = append(command, "--plan", f.record.plan, "--part", f.record.part)
	}
	if f.recipes.Dir != "" {
		command = append(command, "--recipes", f.recipes.Dir)
	}
	return command
}

// scheduleProgress shows the progress of a test: one row, and a line for each failure.
type scheduleProgress struct {
	board               *display.Board
	total, done, failed int
	running             []string
}

// show handles one event at a time.
func (p *scheduleProgress) show(e plan.Event) {
	switch e.Kind {
	case plan.EventStarted:
		p.running = append(p.running, e.Step)
	case plan.EventVerdict:
		p.running = slices.DeleteFunc(p.running, func(n string) bool { return n == e.Step })
		p.done++
		if cmdutil.StateOf(e.Result.Verdict) != display.Done {
			p.failed++
			p.board.Log("%s: %s: %s", e.Step, e.Result.Verdict, e.Result.Reason)
		}
	case plan.EventNote:
		p.board.Log("note: %s", e.Text)
		return
	case plan.EventProgress, plan.EventPrepare, plan.EventObserved, plan.EventKept:
		return
	}
	state := display.Running
	if p.done == p.total {
		state = display.Done
		if p.failed > 0 {
			state = display.Failed
		}
	}
	p.board.Set(boardRecipes, "tested", state, p.text())
}

func (p *scheduleProgress) text() string {
	text := fmt.Sprintf("%d of %d", p.done, p.total)
	if p.failed > 0 {
		text += fmt.Sprintf(", %d not passed", p.failed)
	}
	if len(p.running) > 0 {
		text += ": " + p.running[0]
	}
	return text
}
