package recipe

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/promote"
	"github.com/firstlight/firstlight/internal/impact/record"
)

type promoteFlags struct {
	records, repo, recipes string
	require, harness       []string
}

func newPromote(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "promote COMMIT",
		Short: "Check whether a commit qualifies as a release candidate",
		Long: `Compare the records of a commit's tests (firstlight recipe test --record, as the nightly
workflow keeps them) with the commit: its recipes, their files and the harness come from
git, not from the records. The commit qualifies if a run of tier 3 tested exactly these
recipes with these files and this harness, from a clean checkout, and all passed. Shards
are merged; a missing shard disqualifies. The newest complete run counts.

Scheduling tests do not cover drivers, fabric or speed. Checks on real hardware,
RECORDS/COMMIT/runtime/*.json, are listed separately; --require-runtime requires one by
name. A check on simulated hardware does not count.

Exit codes: 0 qualifies; 1 does not; 2 invalid input; 3 no record found.`,
		Example: `  firstlight recipe promote HEAD --records records
  firstlight recipe promote 3f2a9c1 --records records --require-runtime nccl-all-reduce-bw -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f promoteFlags
	flags := cmd.Flags()
	flags.StringVar(&f.records, "records", "", "directory of the records, with one directory per commit")
	flags.StringVar(&f.repo, "repo", ".", "directory of the repository")
	flags.StringVar(&f.recipes, "recipes", "recipes", "directory of the recipe tree, relative to --repo")
	flags.StringArrayVar(&f.require, "require-runtime", nil, "check on real hardware that must have passed (repeatable)")
	flags.StringArrayVar(&f.harness, "harness", nil, "pattern of additional harness files, as in the tests (repeatable)")
	cmdutil.RequireFlags(cmd, "records")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in, err := f.read(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c := promote.Judge(in)
		if err := out.Write(s.Out, c, func(w io.Writer) { printCandidate(w, c) }); err != nil {
			return err
		}
		return cmdutil.VerdictError(c.Verdict)
	}
	return cmd
}

// read reads the commit from git, and its records.
func (f *promoteFlags) read(ctx context.Context, name string) (promote.Input, error) {
	repo, dir, err := compare.Locate(ctx, filepath.Join(f.repo, f.recipes))
	if err != nil {
		return promote.Input{}, cmdutil.UsageErrorf("%w", err)
	}
	o := compare.Options{Repo: repo, Head: name, Tree: dir, NoBase: true}
	for _, g := range f.harness {
		o.Harness = append(o.Harness, impact.Glob(g))
	}
	state, err := compare.Run(ctx, o)
	if err != nil {
		return promote.Input{}, cmdutil.UsageErrorf("%w", err)
	}
	in := promote.Input{Commit: state.Head.Commit, Tree: state.Tree, Require: f.require, Harness: state.Harness.Of}
	if in.Tool = cmdutil.Version; state.Harness.Built {
		in.Tool = ""
		in.BuiltFrom = func(version string) (string, error) { // git describe's output is a revision
			o.Head = version
			built, err := compare.Run(ctx, o)
			return built.Harness.Digest, err
		}
	}
	loaded := impact.Load(state.Head, nil)
	if loaded.Err != nil {
		in.Unusable = loaded.Err.Error()
	} else if in.Recipes, err = loaded.Measure(ctx, loaded.Names()); err != nil {
		return in, cmdutil.Unobserved(err)
	}
	if in.Records, err = record.Of(f.records, in.Commit); err != nil {
		return in, cmdutil.Unobserved(err)
	}
	in.Runtime, err = record.RuntimeOf(f.records, in.Commit)
	return in, cmdutil.Unobserved(err)
}

func printCandidate(w io.Writer, c promote.Candidate) {
	result := map[check.Verdict]string{check.Passed: "qualifies as a release candidate", check.Failed: "does not qualify", check.Unobserved: "is undecided"}[c.Verdict]
	fmt.Fprintf(w, "%.12s %s\n", c.Commit, result)
	for _, r := range c.Reasons {
		fmt.Fprintf(w, "  %s\n", r)
	}
	fmt.Fprintf(w, "\nscheduling, on simulated nodes: ")
	if r := c.Scheduling; r != nil {
		fmt.Fprintf(w, "%s, %s, %s, by firstlight %s: %s (%s)\n", r.Event, cmdutil.Count(r.Shards, "shard"), r.When.Format("2006-01-02 15:04 MST"), r.Tool, r.Verdict, cmdutil.Count(c.Recipes, "recipe"))
	} else {
		fmt.Fprintln(w, "no run of tier 3")
	}
	for _, n := range c.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
	if len(c.Runtime) == 0 {
		fmt.Fprintln(w, "runtime, on hardware: no record")
		return
	}
	fmt.Fprintln(w, "runtime, on hardware:")
	table := display.NewTable(w)
	for _, r := range c.Runtime {
		hardware := r.Hardware
		if r.Simulated {
			hardware += " (simulated: does not count)"
		}
		table.Row("  "+r.Name, r.Verdict, hardware, r.Reason)
	}
	table.Flush()
}
