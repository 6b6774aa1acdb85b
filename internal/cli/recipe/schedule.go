package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/schedule"
)

// scheduleFlags are the flags of recipe test.
type scheduleFlags struct {
	recipes  recipeFlags
	choice   scheduleChoice
	jobs     int
	perPlane int
	evidence string

	distribute distributeFlags
	publish    publishFlags
	record     recordFlags
}

func newRecipeTest(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test [RECIPE...]",
		Short: "Test that recipes schedule, on simulated nodes with the real scheduler",
		Long: `test puts each recipe on a control plane of unmodified Kubernetes: nodes of its
provider's shape, the pods of its components and of their operators, and a GPU
workload for its intent. It passes when every pod exists, is bound and stands on a
node of its class, DaemonSets cover exactly their nodes, and the gang is bound whole.
What must fail is tried too: the GPU workload without its toleration, on half the
GPUs, on another architecture, half a gang, an operand without its selector.

Tier 1 are the generic recipes (a service, any accelerator), tier 2 those that the
changes since --base affect, tier 3 all. In tiers 1 and 2 one recipe of each class
stands for the others of it (firstlight recipe classes); in tier 3 each is tested,
and a class whose members disagree fails.

The control plane is thrown away at the end; nothing outside it is touched. What was
seen is kept as evidence: firstlight evidence replay judges it again.

With --distribute kubernetes the same test runs as a Job in a cluster: one shard for
each 64 recipes, each with a control plane of its own, joined to one report. On that
cluster it is a guest: a namespace of its own, pods that preempt nothing, and all of
it removed at the end.

It says nothing of drivers, fabric or images: those need hardware.

Exit codes: 0 passed; 1 something failed; 2 bad input; 3 could not be observed;
130 interrupted.`,
		Example: `  firstlight recipe test h100-eks-ubuntu-training
  firstlight recipe test --all
  firstlight recipe test --tier 2 --base origin/main -o json
  firstlight recipe test --all --recipes ../our-recipes --jobs 8
  firstlight recipe test --all --distribute kubernetes --image registry.example.com/firstlight:1 --shards 4`,
		Args: cobra.ArbitraryArgs,
	}
	f := &scheduleFlags{}
	addRecipesFlag(cmd, &f.recipes)
	f.choice.add(cmd)
	f.distribute.add(cmd)
	f.publish.add(cmd)
	f.record.add(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.jobs, "jobs", 8, "how many recipes are under way at one time")
	flags.IntVar(&f.perPlane, "per-plane", 256, "how many recipes one control plane takes before it is thrown away for a new one")
	flags.StringVar(&f.evidence, "evidence", filepath.Join("evidence", "recipes"), "directory that runs are kept in")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runRecipeTest(cmd.Context(), s, f, args, out) }
	return cmd
}

func (f *scheduleFlags) check() error {
	if f.jobs < 1 {
		return usage("--jobs %d: at least one recipe at a time", f.jobs)
	}
	if f.perPlane < 1 {
		return usage("--per-plane %d: a control plane takes at least one recipe", f.perPlane)
	}
	if err := f.publish.check(); err != nil {
		return err
	}
	return f.distribute.check(&f.choice)
}

// boardRecipes is the title of the board's group of recipes.
const boardRecipes = "recipes"

func runRecipeTest(ctx context.Context, s Streams, f *scheduleFlags, args []string, out *format) error {
	if err := f.check(); err != nil {
		return err
	}
	t, err := f.recipes.open(s)
	if err != nil {
		return err
	}
	source, problems := schedule.Open(t)
	if err := problems.Err(); err != nil {
		return usage("%w\nfirstlight recipe lint %s shows all of them", err, t.Label)
	}
	chosen, why, err := f.chosen(ctx, source, args)
	if err != nil {
		return err
	}
	begun, err := f.record.begin(ctx, f.recipes.dir, chosen.Tier)
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
	board := newBoard(s.Err)
	closeBoard := onlyOnce(board.Close)
	defer closeBoard()
	progress := &scheduleProgress{board: board, total: len(chosen.Cases)}
	outcome, err := schedule.Test(ctx, schedule.Options{
		Selection: chosen,
		Open:      func(ctx context.Context, _ func(string)) (schedule.ControlPlane, error) { return openPlane(ctx, board) },
		Jobs:      f.jobs, PerPlane: f.perPlane, EvidenceDir: f.evidence,
		Header: evidence.Header{Tool: version, Command: f.command(args), Simulated: true, SimulatedWhy: "nodes are objects alone, without kubelets"},
		Events: progress.show,
	})
	closeBoard()
	if err != nil {
		return infrastructure(err)
	}
	if outcome.Interrupted {
		return infrastructure(errors.Join(ctx.Err(), fmt.Errorf("interrupted: %d recipes without a verdict; what was seen is in %s", len(outcome.Pending), outcome.Evidence)))
	}
	report := chosen.Report(t.Label, outcome)
	if err := f.record.end(begun, report, time.Now()); err != nil {
		return err
	}
	return f.finish(ctx, s, out, report)
}

// chosen are the recipes of a part of a plan, or those that names and flags choose.
func (f *scheduleFlags) chosen(ctx context.Context, source *schedule.Source, args []string) (s schedule.Selection, why string, err error) {
	planned, level, err := f.record.read()
	if err != nil {
		return s, "", err
	}
	if len(planned) > 0 {
		if len(args) > 0 || f.choice.all || f.choice.tier != 0 {
			return s, "", usage("--plan says which recipes are tested: give no names, no --all and no --tier with it")
		}
		args = planned
	}
	s, why, err = f.choice.choose(ctx, source, f.recipes.dir, args)
	if level != 0 {
		s.Tier = level
	}
	return s, why, err
}

// finish prints a report. That of a shard is published too, and decides no exit code.
func (f *scheduleFlags) finish(ctx context.Context, s Streams, out *format, r schedule.Report) error {
	err := finishRecipeTest(s, out, r)
	if f.publish.to == "" {
		return err
	}
	return f.publish.publish(ctx, r, f.choice.shard, f.choice.shards)
}

func finishRecipeTest(s Streams, out *format, r schedule.Report) error {
	style := display.Style{Color: colourOf(s.Out)}
	if err := out.write(s.Out, r, func(w io.Writer) error { return printSchedule(w, r, style) }); err != nil {
		return err
	}
	return verdictExit(r.Verdict)
}

// command is what the evidence says was asked for.
func (f *scheduleFlags) command(args []string) []string {
	command := append([]string{"firstlight", "recipe", "test"}, args...)
	return append(command, f.choice.command()...)
}

// scheduleProgress shows how far a test is: one row, and a line for what fails.
type scheduleProgress struct {
	board               *display.Board
	total, done, failed int
	running             []string
}

// show is called by the walk, one event at a time.
func (p *scheduleProgress) show(e plan.Event) {
	switch e.Kind {
	case plan.EventStarted:
		p.running = append(p.running, e.Step)
	case plan.EventVerdict:
		p.running = slices.DeleteFunc(p.running, func(n string) bool { return n == e.Step })
		p.done++
		if stateOf(e.Result.Verdict) != display.Done {
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
