package recipe

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/chart"
)

// updateFlags are those of recipe footprint update.
type updateFlags struct {
	recipeFlags

	chart   string
	check   bool
	timeout time.Duration
	jobs    int
}

func newRecipeFootprintUpdate(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Render charts with the recipes' values, and lock what the scheduler sees of their pods",
		Long: `update renders the charts of footprints with every set of values that recipes of the
tree have, and writes what the scheduler sees of the pods into footprints/NAME.yaml:
requests, selectors, affinities, tolerations, spread, priorities, ports, replicas.
Comments and what is written by hand stay. Without NAME it goes through all footprints.

A chart is looked for in the order: --chart alone, where it is given; charts/CHART or
charts/CHART-VERSION.tgz beside the recipe tree; the Go module that the footprint names
(chart.module), in the module cache or fetched by the go command; the chart's
repository. Every source that fails says why. HTTP_PROXY and NO_PROXY count.

--check writes nothing: it compares the lock, or the rules of a documented footprint,
with the chart, fact by fact. It exits 1 when they differ, 3 when a chart can't be had.`,
		Example: `  firstlight recipe footprint update --recipes recipes
  firstlight recipe footprint update --recipes recipes gpu-operator --chart gpu-operator-v25.10.1.tgz
  firstlight recipe footprint update --check
  firstlight recipe footprint update --check kai-scheduler -o json`,
		Args: cobra.ArbitraryArgs,
	}
	var f updateFlags
	addRecipesFlag(cmd, &f.recipeFlags)
	cmd.Flags().StringVar(&f.chart, "chart", "", "the chart: a directory or a packed chart (.tgz); with one NAME")
	cmd.Flags().BoolVar(&f.check, "check", false, "compare instead of writing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "longest time for one request to a repository")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "how many charts are fetched at once; 0: 4")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		results, err := f.run(cmd.Context(), s, args)
		if err != nil {
			return err
		}
		if err := out.write(s.Out, results, func(w io.Writer) error { return printUpdates(w, results) }); err != nil {
			return err
		}
		return updateExit(results)
	}
	return cmd
}

func (f *updateFlags) run(ctx context.Context, s Streams, names []string) ([]chart.Result, error) {
	switch {
	case f.chart != "" && len(names) != 1:
		return nil, usage("--chart is the chart of one footprint: name it")
	case f.dir == "" && !f.check:
		return nil, usage("the tree that ships with firstlight is not written to: give the one to update with --recipes, or compare with --check")
	case f.timeout <= 0 || f.jobs < 0:
		return nil, usage("--timeout %s, --jobs %d: both have to be positive", f.timeout, f.jobs)
	}
	t, err := f.open(s)
	if err != nil {
		return nil, err
	}
	o := chart.Options{Names: names, Check: f.check, Jobs: f.jobs}
	if f.dir != "" {
		if o.Dir, err = recipe.Locate(f.dir); err != nil && !f.check {
			return nil, usage("update: %w", err)
		}
	}
	o.Sources = f.sources(ctx, o.Dir)
	results, err := chart.Update(ctx, t, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, infrastructure(err)
		}
		return nil, usage("%w", err)
	}
	return results, nil
}

// sources are where charts are looked for, in order.
func (f *updateFlags) sources(ctx context.Context, dir string) chart.Sources {
	if f.chart != "" {
		return chart.Sources{chart.File{Path: f.chart}}
	}
	var out chart.Sources
	if dir != "" {
		out = append(out, chart.Directory{Dir: filepath.Join(filepath.Dir(filepath.Clean(dir)), "charts")})
	}
	return append(out, chart.GoModules(ctx), chart.Repositories{Network: chart.Network{Timeout: f.timeout}})
}

// updateExit is 1 when something is wrong that can be put right here, otherwise 3 when
// a chart could not be had.
func updateExit(results []chart.Result) error {
	code := ExitPassed
	for i := range results {
		switch {
		case results[i].Failed():
			return &exitError{code: ExitFailed}
		case results[i].Unobserved():
			code = ExitUnobserved
		}
	}
	if code == ExitPassed {
		return nil
	}
	return &exitError{code: code}
}

func printUpdates(w io.Writer, results []chart.Result) error {
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tVERSION\tSOURCE TRIED\tRESULT")
	counts := map[chart.Outcome]int{}
	for i := range results {
		r := &results[i]
		counts[r.Outcome]++
		name, version := r.Name, dash(r.Version)
		for _, a := range r.Attempts {
			if a.Error != "" {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", name, version, a.Source, a.Error)
			} else {
				fmt.Fprintf(tw, "%s\t%s\t%s\thad: %s\n", name, version, a.Source, a.From)
			}
			name, version = "", ""
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s: %s\n", name, version, "", r.Outcome, r.Reason)
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // the caller names the stream
	}
	for i := range results {
		printUpdate(w, &results[i])
	}
	_, err := fmt.Fprintf(w, "\n%s\n", outcomes(counts, len(results)))
	return err //nolint:wrapcheck // the caller names the stream
}

// printUpdate is what is more to say of one footprint.
func printUpdate(w io.Writer, r *chart.Result) {
	if len(r.Drift)+len(r.Notes) > 0 {
		fmt.Fprintf(w, "\n%s\n", r.Name)
	}
	for _, d := range r.Drift {
		fmt.Fprintf(w, "  %s: %s\n", d.Pos, d)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}

func outcomes(counts map[chart.Outcome]int, all int) string {
	var text strings.Builder
	text.WriteString(fmt.Sprintf("%d footprints", all))
	for _, o := range []chart.Outcome{chart.Locked, chart.Unchanged, chart.UpToDate, chart.Drifted, chart.Broken, chart.Unavailable, chart.NotApplicable} {
		if counts[o] > 0 {
			text.WriteString(fmt.Sprintf(", %d %s", counts[o], o))
		}
	}
	return text.String()
}
