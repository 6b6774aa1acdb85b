package recipe

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/compare"
	"github.com/firstlight/firstlight/internal/impact/promote"
	"github.com/firstlight/firstlight/internal/impact/record"
)

// promoteFlags are the flags of promote.
type promoteFlags struct {
	records, repo, recipes string
	require, harness       []string
}

func newRecipePromote(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "promote COMMIT",
		Short: "Say whether a commit qualifies as a release candidate, and why not",
		Long: `promote reads the records of a commit's tests (firstlight recipe test --record, kept by
the nightly workflow) and holds them against the commit itself: which recipes it has, what
each is made of and which harness it has come from git, not from the records. It qualifies
when a run of tier 3 tested exactly these recipes, each with these files, by this harness,
from a clean checkout, and all passed. Shards are joined; one that is lost keeps it from
qualifying. Of several runs the newest that is whole counts.

Scheduling says nothing of drivers, fabric or speed. Checks on real hardware,
RECORDS/COMMIT/runtime/*.json, are listed apart and count for nothing else;
--require-runtime demands one by name. One on simulated hardware does not do.

Exit codes: 0 it qualifies; 1 it does not; 2 bad input; 3 it can't be told, there is no
record.`,
		Example: `  firstlight recipe promote HEAD --records records
  firstlight recipe promote 3f2a9c1 --records records --require-runtime nccl-all-reduce-bw -o json`,
		Args: cobra.ExactArgs(1),
	}
	var f promoteFlags
	flags := cmd.Flags()
	flags.StringVar(&f.records, "records", "", "directory with the records, one directory a commit")
	flags.StringVar(&f.repo, "repo", ".", "the repository")
	flags.StringVar(&f.recipes, "recipes", "recipes", "directory of the recipe tree, relative to --repo")
	flags.StringArrayVar(&f.require, "require-runtime", nil, "name of a check on real hardware that has to have passed (may be repeated)")
	flags.StringArrayVar(&f.harness, "harness", nil, "pattern of more files of the harness, as the tests were given it (may be repeated)")
	if err := cmd.MarkFlagRequired("records"); err != nil {
		panic(err) // the flag was added above
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in, err := f.read(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c := promote.Judge(in)
		if err := out.write(s.Out, c, func(w io.Writer) error { return printCandidate(w, c) }); err != nil {
			return err
		}
		return verdictExit(c.Verdict)
	}
	return cmd
}

// read gets what is known of the commit from git, and what was recorded of it.
func (f *promoteFlags) read(ctx context.Context, name string) (promote.Input, error) {
	repo, dir, err := compare.Locate(ctx, filepath.Join(f.repo, f.recipes))
	if err != nil {
		return promote.Input{}, usage("%w", err)
	}
	o := compare.Options{Repo: repo, Head: name, Tree: dir, NoBase: true}
	for _, g := range f.harness {
		o.Harness = append(o.Harness, impact.Glob(g))
	}
	state, err := compare.Run(ctx, o)
	if err != nil {
		return promote.Input{}, usage("%w", err)
	}
	in := promote.Input{Commit: state.Head.Commit, Tree: state.Tree, Require: f.require, Harness: state.Harness.Of}
	loaded := impact.Load(state.Head, nil)
	if loaded.Err != nil {
		in.Unusable = loaded.Err.Error()
	} else if in.Recipes, err = loaded.Measure(ctx, loaded.Names()); err != nil {
		return in, infrastructure(err)
	}
	if in.Records, err = record.Of(f.records, in.Commit); err != nil {
		return in, infrastructure(err)
	}
	in.Runtime, err = record.RuntimeOf(f.records, in.Commit)
	return in, infrastructure(err)
}

func printCandidate(w io.Writer, c promote.Candidate) error {
	says := map[check.Verdict]string{check.Passed: "qualifies as a release candidate", check.Failed: "does not qualify", check.Unobserved: "can't be told"}[c.Verdict]
	fmt.Fprintf(w, "%.12s %s\n", c.Commit, says)
	for _, r := range c.Reasons {
		fmt.Fprintf(w, "  %s\n", r)
	}
	fmt.Fprintf(w, "\nscheduling, on simulated nodes: ")
	if r := c.Scheduling; r != nil {
		fmt.Fprintf(w, "%s, %d shards, %s, by firstlight %s: %s (%d recipes)\n", r.Event, r.Shards, r.When.Format("2006-01-02 15:04 MST"), r.Tool, r.Verdict, c.Recipes)
	} else {
		fmt.Fprintln(w, "no run of tier 3")
	}
	for _, n := range c.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
	if len(c.Runtime) == 0 {
		_, err := fmt.Fprintln(w, "runtime, on hardware: no record")
		return err //nolint:wrapcheck // the caller names the stream
	}
	fmt.Fprintln(w, "runtime, on hardware:")
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	for _, r := range c.Runtime {
		hardware := r.Hardware
		if r.Simulated {
			hardware += " (simulated: does not count)"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", r.Name, r.Verdict, hardware, r.Reason)
	}
	return tw.Flush() //nolint:wrapcheck // the caller names the stream
}
