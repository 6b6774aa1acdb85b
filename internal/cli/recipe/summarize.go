package recipe

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
	"github.com/firstlight/firstlight/internal/impact/summarize"
)

func newSummarize(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summarize",
		Short: "Check that every recipe of a plan was tested and passed",
		Long: `Compare results with their plan: every shard must have one result, of this plan and this
commit, and every recipe one verdict, passed, with the files of the plan. A lost,
duplicate or foreign shard, a missing or unexpected recipe, and a job that was skipped or
cancelled although it had work fail the check. Only a plan without work passes without a
result.

It is the required check of the workflows (firstlight recipe workflow).

Exit codes: 0 everything passed, or the plan has no work; 1 failed; 2 the plan cannot be
read; 3 a result is missing.`,
		Example: `  firstlight recipe summarize --plan plan.json --results results
  firstlight recipe summarize --plan plan.json --results results --digest "$DIGEST" --job plan=success --job tier1=success --job tier2=skipped`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	planFile := flags.String("plan", "", "plan, as firstlight recipe plan --save writes it")
	results := flags.String("results", "", "directory of the results, as firstlight recipe test --record writes them")
	digest := flags.String("digest", "", "digest of the plan, an output of the planning job")
	jobs := flags.StringArray("job", nil, "result of a job as NAME=RESULT in GitHub's terms (repeatable); all jobs or none")
	cmdutil.RequireFlags(cmd, "plan", "results")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		p, err := impact.ReadPlan(*planFile)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		in := summarize.Input{Plan: p, PlanDigest: *digest}
		if in.Jobs, err = jobResults(*jobs); err != nil {
			return err
		}
		if in.Records, err = record.All(*results); err != nil {
			return cmdutil.Unobserved(err)
		}
		sum := summarize.Judge(in)
		if err := out.Write(s.Out, sum, func(w io.Writer) { printSummary(w, sum) }); err != nil {
			return err
		}
		return cmdutil.VerdictError(sum.Verdict)
	}
	return cmd
}

// jobResults reads NAME=RESULT; nil without jobs.
func jobResults(list []string) (map[string]string, error) {
	var out map[string]string
	for _, text := range list {
		name, result, ok := strings.Cut(text, "=")
		if _, twice := out[name]; !ok || name == "" || twice {
			return nil, cmdutil.UsageErrorf("invalid --job %q: must be NAME=RESULT, each job once", text)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = result
	}
	return out, nil
}

// shownLines is the most lines of a kind in a summary.
const shownLines = 50

func printSummary(w io.Writer, sum summarize.Summary) {
	for i, r := range sum.Failed {
		if i == shownLines {
			fmt.Fprintf(w, "... and %d more\n", len(sum.Failed)-i)
			break
		}
		fmt.Fprintf(w, "%s: %s: %s\n", r.Recipe, r.Verdict, r.Reason)
	}
	for i, text := range sum.Problems {
		if i == shownLines {
			fmt.Fprintf(w, "... and %d more\n", len(sum.Problems)-i)
			break
		}
		fmt.Fprintf(w, "%s\n", text)
	}
	fmt.Fprintf(w, "%s: %s (%d of %d shards)\n", sum.Verdict, sum.Reason, sum.Shards, sum.OfShards)
}
