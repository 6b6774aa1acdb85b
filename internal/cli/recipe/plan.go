package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
)

// compareFlags select two states of a tree to compare.
type compareFlags struct {
	dir        string
	base, head string
	harness    []string
}

func (f *compareFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "recipes", "recipes", "directory of the recipe tree, in a git repository")
	flags.StringVar(&f.base, "base", "", "base of the change (default: origin/main or main)")
	flags.StringVar(&f.head, "head", "HEAD", "commit with the change, or "+compare.Worktree)
	flags.StringArrayVar(&f.harness, "harness", nil, "pattern of additional harness files, such as ci/** (repeatable)")
}

// run reads both states from the repository.
func (f *compareFlags) run(ctx context.Context, event impact.Event) (impact.Input, error) {
	repo, dir, err := compare.Locate(ctx, f.dir)
	if err != nil {
		return impact.Input{}, cmdutil.UsageErrorf("%w", err)
	}
	o := compare.Options{Repo: repo, Base: f.base, Head: f.head, Tree: dir, Version: cmdutil.Version, NoBase: event != impact.PullRequest}
	for _, g := range f.harness {
		o.Harness = append(o.Harness, impact.Glob(g))
	}
	in, err := compare.Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return impact.Input{}, cmdutil.Unobserved(err)
		}
		return impact.Input{}, cmdutil.UsageErrorf("%w", err)
	}
	in.Event = event
	return in, nil
}

// planGCPercent saves garbage collections: a plan reads thousands of small files and ends.
// With the default they took a quarter of its time.
const planGCPercent = 400

func newPlan(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [RECIPE...]",
		Short: "Select the recipes that a change must test, with the reasons",
		Long: `Compare the recipe tree of --head with that of its merge base with --base.

Tier 1 are the generic recipes (a service, any accelerator), which every change tests.
Tier 2 are the recipes that the change affects: a recipe's digest covers every file that
it is made of (overlays by base chain and by criteria, registry entries, values,
manifests, checks, footprints, node profiles), and the recipe is tested if and only if
that digest, or the harness, differs. A rename is a deletion and an addition. If the
comparison is impossible, everything is selected: a shallow clone, an unknown or invalid
base, a file of unknown meaning in the tree.

--event push and schedule select every recipe (tier 3); dispatch selects the named ones,
or every one.

The harness is the code that runs the test: in firstlight's own repository its code and
pins; elsewhere firstlight's version, the workflow files, and --harness.

-o github prints the outputs of a workflow step: has-work, one matrix for each tier (at
most 256 jobs), the number of recipes, and the digest that results must have. --save
writes the plan for firstlight recipe summarize.`,
		Example: `  firstlight recipe plan
  firstlight recipe plan --base origin/main --head worktree
  firstlight recipe plan --event pull_request --save plan.json -o github >> "$GITHUB_OUTPUT"
  firstlight recipe plan --event dispatch h100-eks-amazonlinux-training`,
		Args: cobra.ArbitraryArgs,
	}
	var compared compareFlags
	compared.add(cmd)
	out := cmdutil.AddOutputFlag(cmd, "github")
	flags := cmd.Flags()
	event := flags.String("event", string(impact.PullRequest), "event: pull_request, push, schedule, dispatch")
	perShard := flags.Int("per-shard", impact.DefaultPerShard, fmt.Sprintf("most recipes of one job, unless that needs more than %d jobs", impact.MaxJobs))
	save := flags.String("save", "", "file to write the plan to, as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := impact.ParseEvent(*event)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if len(args) > 0 && e != impact.Dispatch {
			return cmdutil.UsageErrorf("recipe names need --event dispatch; the event %s selects recipes itself", e)
		}
		if *perShard < 1 {
			return cmdutil.UsageErrorf("invalid --per-shard %d: must be at least 1", *perShard)
		}
		defer debug.SetGCPercent(debug.SetGCPercent(planGCPercent))
		in, err := compared.run(cmd.Context(), e)
		if err != nil {
			return err
		}
		in.Names, in.PerShard, in.Classes = args, *perShard, classesOf
		p, err := impact.Make(cmd.Context(), in)
		if err != nil {
			if errors.Is(err, cmd.Context().Err()) {
				return cmdutil.Unobserved(err)
			}
			return cmdutil.UsageErrorf("%w", err)
		}
		if *save != "" {
			if err := p.Save(*save); err != nil {
				return cmdutil.Unobserved(err)
			}
		}
		return writePlan(s.Out, out, p)
	}
	return cmd
}

func writePlan(w io.Writer, out *cmdutil.Output, p *impact.Plan) error {
	if out.String() == "github" {
		return cmdutil.Unobserved(p.WriteGitHub(w))
	}
	return out.Write(w, p, func(w io.Writer) { printPlan(w, p) })
}

// shownReasons is the most reasons of a recipe in the table.
const shownReasons = 3

func printPlan(w io.Writer, p *impact.Plan) {
	table := display.NewTable(w, "TIER", "RECIPE", "TESTED BY", "WHY")
	for _, r := range p.Recipes {
		by := "itself"
		if r.TestedBy != "" {
			by = r.TestedBy
		}
		for i, why := range r.Reasons {
			switch {
			case i == 0:
				table.Row(r.Tier, r.Recipe, by, why)
			case i < shownReasons:
				table.Line("", "", "", fmt.Sprint(why))
			case i == shownReasons:
				table.Line("", "", "", fmt.Sprintf("... and %d more", len(r.Reasons)-shownReasons))
			}
		}
	}
	table.Flush()
	for _, name := range p.Removed {
		fmt.Fprintf(w, "removed: %s\n", name)
	}
	for _, note := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	if p.Base.Commit != "" {
		fmt.Fprintf(w, "\ncompared with %s, the merge base with %s\n", p.Base.Commit[:12], p.Base.Name)
	}
	fmt.Fprintf(w, "%s\n", p.Reason)
}
