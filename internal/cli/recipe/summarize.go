package recipe

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/impact"
	"github.com/firstlight/firstlight/internal/impact/record"
	"github.com/firstlight/firstlight/internal/impact/summarize"
)

func newRecipeSummarize(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "summarize",
		Short: "Say whether all that a plan asks for was tested, and passed",
		Long: `summarize holds results against the plan that they are of: every shard must have one
result, of this plan and this commit, every recipe one verdict, passed, with the files
that the plan names. A shard that is lost, twice or of something else, a recipe that is
missing or was not asked for, and a job that was skipped or cancelled though it had work,
all keep it from passing. Only a plan that has nothing to test passes without a result.

It is what the required check of the workflows runs (firstlight recipe workflow).

Exit codes: 0 all of it passed, or there was nothing to do; 1 something failed; 2 the plan
can't be read; 3 something is missing.`,
		Example: `  firstlight recipe summarize --plan plan.json --results results
  firstlight recipe summarize --plan plan.json --results results --digest "$DIGEST" --job plan=success --job tier1=success --job tier2=skipped`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	planFile := flags.String("plan", "", "the plan, as firstlight recipe plan --save wrote it")
	results := flags.String("results", "", "directory with the results, as firstlight recipe test --record wrote them")
	digest := flags.String("digest", "", "the plan's digest, as the job that planned put it out")
	jobs := flags.StringArray("job", nil, "what became of a job, NAME=RESULT in GitHub's words; with one, all have to be given")
	for _, name := range []string{"plan", "results"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		p, err := impact.ReadPlan(*planFile)
		if err != nil {
			return usage("%w", err)
		}
		in := summarize.Input{Plan: p, PlanDigest: *digest}
		if in.Jobs, err = jobResults(*jobs); err != nil {
			return err
		}
		if in.Records, err = record.All(*results); err != nil {
			return infrastructure(err)
		}
		sum := summarize.Judge(in)
		if err := out.write(s.Out, sum, func(w io.Writer) error { return printSummary(w, sum) }); err != nil {
			return err
		}
		return verdictExit(sum.Verdict)
	}
	return cmd
}

// jobResults reads NAME=RESULT; nil when there is none.
func jobResults(list []string) (map[string]string, error) {
	var out map[string]string
	for _, text := range list {
		name, result, ok := strings.Cut(text, "=")
		if _, twice := out[name]; !ok || name == "" || twice {
			return nil, usage("--job %q: write NAME=RESULT, each job once", text)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = result
	}
	return out, nil
}

// shownLines is how many lines of a kind a summary has.
const shownLines = 50

func printSummary(w io.Writer, sum summarize.Summary) error {
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
	_, err := fmt.Fprintf(w, "%s: %s (%d of %d shards)\n", sum.Verdict, sum.Reason, sum.Shards, sum.OfShards)
	return err //nolint:wrapcheck // the caller names the stream
}
