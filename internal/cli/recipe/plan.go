package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
)

// planFormat is the -o flag of plan.
type planFormat string

var planFormats = []string{"text", "json", "yaml", "github"}

func (f *planFormat) String() string { return string(*f) }

// Set refuses unknown formats.
func (f *planFormat) Set(text string) error {
	if !slices.Contains(planFormats, text) {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(planFormats, ", "))
	}
	*f = planFormat(text)
	return nil
}

// Type names the value in help texts.
func (f *planFormat) Type() string { return strings.Join(planFormats, "|") }

// compareFlags say which two states are compared.
type compareFlags struct {
	dir        string
	base, head string
	harness    []string
}

func (f *compareFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "recipes", "recipes", "directory of the recipe tree, in a git repository")
	flags.StringVar(&f.base, "base", "", "what the change is merged into; without it origin/main, or main")
	flags.StringVar(&f.head, "head", "HEAD", "the change: a commit, or "+compare.Worktree+" for what lies on disk")
	flags.StringArrayVar(&f.harness, "harness", nil, "pattern of more files that decide how recipes are tested, such as ci/** (may be repeated)")
}

// run reads both states out of the repository.
func (f *compareFlags) run(ctx context.Context, event impact.Event) (impact.Input, error) {
	repo, dir, err := compare.Locate(ctx, f.dir)
	if err != nil {
		return impact.Input{}, usage("%w", err)
	}
	o := compare.Options{Repo: repo, Base: f.base, Head: f.head, Tree: dir, Version: version, NoBase: event != impact.PullRequest}
	for _, g := range f.harness {
		o.Harness = append(o.Harness, impact.Glob(g))
	}
	in, err := compare.Run(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return impact.Input{}, infrastructure(err)
		}
		return impact.Input{}, usage("%w", err)
	}
	in.Event = event
	return in, nil
}

// planGCPercent spares a plan, which reads thousands of small files and ends, most of
// the collections: they took a quarter of its time.
const planGCPercent = 400

func newRecipePlan(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [RECIPE...]",
		Short: "Choose which recipes a change has to be tested with, and say why",
		Long: `plan compares the recipe tree of --head with that of the merge-base, where the change
left --base. Tier 1 are the generic recipes (a service, whatever the accelerator), which
are tested with every change. Tier 2 are those that the change affects: a recipe's
digest is of every file that it is made of (overlays by base chain and by criteria,
registry entries, values, manifests, checks, footprints, node profiles), and it is tested
if and only if that digest, or the harness, is not the same on both sides. A rename is a
deletion and an addition. What can't be judged selects everything: a shallow clone, a
base that is not known or does not load, a file in the tree of unknown meaning.

--event push and schedule select every recipe (tier 3); dispatch those that are named,
or every one.

The harness is the code that runs the test. In firstlight's own repository that is its
code and pins; elsewhere it is firstlight's version, the workflow files, and what
--harness adds.

-o github prints the outputs of a workflow's step: has-work, one matrix for each tier
(at most 256 jobs), how many recipes, and the digest that the results are held against.
--save keeps the plan for firstlight recipe summarize.`,
		Example: `  firstlight recipe plan
  firstlight recipe plan --base origin/main --head worktree
  firstlight recipe plan --event pull_request --save plan.json -o github >> "$GITHUB_OUTPUT"
  firstlight recipe plan --event dispatch h100-eks-amazonlinux-training`,
	}
	var compared compareFlags
	compared.add(cmd)
	out := planFormat("text")
	flags := cmd.Flags()
	flags.VarP(&out, "output", "o", "output format: "+strings.Join(planFormats, ", "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(planFormats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added one line above
	}
	event := flags.String("event", string(impact.PullRequest), "what it is for: pull_request, push, schedule, dispatch")
	perShard := flags.Int("per-shard", impact.DefaultPerShard, fmt.Sprintf("the most recipes of one job, as long as there are no more than %d jobs", impact.MaxJobs))
	save := flags.String("save", "", "write the plan to this file too, as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := impact.ParseEvent(*event)
		if err != nil {
			return usage("%w", err)
		}
		if len(args) > 0 && e != impact.Dispatch {
			return usage("recipes are named with --event dispatch; %s chooses them by itself", e)
		}
		if *perShard < 1 {
			return usage("--per-shard %d: a job tests at least one recipe", *perShard)
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
				return infrastructure(err)
			}
			return usage("%w", err)
		}
		if *save != "" {
			if err := p.Save(*save); err != nil {
				return infrastructure(err)
			}
		}
		return writePlan(s.Out, out, p)
	}
	return cmd
}

func writePlan(w io.Writer, f planFormat, p *impact.Plan) error {
	if f == "github" {
		return infrastructure(p.WriteGitHub(w))
	}
	plain := format(f)
	return plain.write(w, p, func(w io.Writer) error { return printRecipePlan(w, p) })
}

// shownReasons is how many reasons of a recipe the table has.
const shownReasons = 3

func printRecipePlan(w io.Writer, p *impact.Plan) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "TIER\tRECIPE\tTESTED BY\tWHY")
	for _, r := range p.Recipes {
		by := "itself"
		if r.TestedBy != "" {
			by = r.TestedBy
		}
		for i, why := range r.Reasons {
			switch {
			case i == 0:
				fmt.Fprintf(tw, "%d\t%s\t%s\t%s\n", r.Tier, r.Recipe, by, why)
			case i < shownReasons:
				fmt.Fprintf(tw, "\t\t\t%s\n", why)
			case i == shownReasons:
				fmt.Fprintf(tw, "\t\t\t... and %d more\n", len(r.Reasons)-shownReasons)
			}
		}
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	for _, name := range p.Removed {
		fmt.Fprintf(w, "removed: %s\n", name)
	}
	for _, note := range p.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	if p.Base.Commit != "" {
		fmt.Fprintf(w, "\ncompared with %s, where it left %s\n", p.Base.Commit[:12], p.Base.Name)
	}
	_, err := fmt.Fprintf(w, "%s\n", p.Reason)
	return err //nolint:wrapcheck // the caller names the stream
}
