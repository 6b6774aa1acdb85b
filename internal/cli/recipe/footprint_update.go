package recipe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/chart"
)

type updateFlags struct {
	cmdutil.RecipeFlags

	chart   string
	check   bool
	timeout time.Duration
	jobs    int
}

func newFootprintUpdate(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Render charts with the recipes' values and lock their pods",
		Long: `Render the charts of footprints with every set of values that recipes of the tree have, and
write what the scheduler sees of the pods into footprints/NAME.yaml: requests, selectors,
affinities, tolerations, spread, priorities, ports, replicas. Comments and handwritten
parts are kept. The default is all footprints.

A chart is read from the first source that has it: --chart alone, if set;
charts/CHART or charts/CHART-VERSION.tgz next to the recipe tree; the Go module of the
footprint (chart.module), from the module cache or fetched by the go command; the chart's
repository. The output has the error of each source. HTTP_PROXY and NO_PROXY apply.

--check writes nothing: it compares the lock, or the rules of a documented footprint, with
the chart. It exits 1 if they differ, 3 if a chart is not available.`,
		Example: `  firstlight recipe footprint update --recipes recipes
  firstlight recipe footprint update --recipes recipes gpu-operator --chart gpu-operator-v25.10.1.tgz
  firstlight recipe footprint update --check
  firstlight recipe footprint update --check kai-scheduler -o json`,
		Args: cobra.ArbitraryArgs,
	}
	var f updateFlags
	f.Add(cmd)
	cmd.Flags().StringVar(&f.chart, "chart", "", "chart of one NAME: a directory or a packed chart (.tgz)")
	cmd.Flags().BoolVar(&f.check, "check", false, "compare instead of writing")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "timeout of one request to a repository")
	cmd.Flags().IntVar(&f.jobs, "jobs", 0, "number of charts to fetch at once (0: 4)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		results, err := f.run(cmd.Context(), s, args)
		if err != nil {
			return err
		}
		if err := out.Write(s.Out, results, func(w io.Writer) { printUpdates(w, results) }); err != nil {
			return err
		}
		return updateExit(results)
	}
	return cmd
}

func (f *updateFlags) run(ctx context.Context, s cmdutil.Streams, names []string) ([]chart.Result, error) {
	switch {
	case f.chart != "" && len(names) != 1:
		return nil, cmdutil.UsageErrorf("--chart needs the name of one footprint")
	case f.Dir == "" && !f.check:
		return nil, cmdutil.UsageErrorf("the tree that ships with firstlight is read-only: give --recipes or --check")
	case f.timeout <= 0 || f.jobs < 0:
		return nil, cmdutil.UsageErrorf("invalid --timeout %s or --jobs %d: must be positive", f.timeout, f.jobs)
	}
	t, err := f.Open(s)
	if err != nil {
		return nil, err
	}
	o := chart.Options{Names: names, Check: f.check, Jobs: f.jobs}
	if f.Dir != "" {
		if o.Dir, err = recipe.Locate(f.Dir); err != nil && !f.check {
			return nil, cmdutil.UsageErrorf("update: %w", err)
		}
	}
	o.Sources = f.sources(ctx, o.Dir)
	results, err := chart.Update(ctx, t, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil, cmdutil.Unobserved(err)
		}
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	return results, nil
}

// sources of charts, in order.
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

// updateExit is 1 if a footprint differs or is invalid, else 3 if a chart is not available.
func updateExit(results []chart.Result) error {
	code := cmdutil.ExitPassed
	for i := range results {
		switch {
		case results[i].Failed():
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		case results[i].Unobserved():
			code = cmdutil.ExitUnobserved
		}
	}
	if code == cmdutil.ExitPassed {
		return nil
	}
	return &cmdutil.ExitError{Code: code}
}

func printUpdates(w io.Writer, results []chart.Result) {
	table := display.NewTable(w, "NAME", "VERSION", "SOURCE TRIED", "RESULT")
	counts := map[chart.Outcome]int{}
	for i := range results {
		r := &results[i]
		counts[r.Outcome]++
		name, version := r.Name, cmp.Or(r.Version, "-")
		for _, a := range r.Attempts {
			result := cmp.Or(a.Error, "found: "+a.From)
			table.Line(name, version, a.Source, result)
			name, version = "", ""
		}
		table.Line(name, version, "", fmt.Sprintf("%s: %s", r.Outcome, r.Reason))
	}
	table.Flush()
	for i := range results {
		printUpdate(w, &results[i])
	}
	fmt.Fprintf(w, "\n%s\n", outcomes(counts, len(results)))
}

// printUpdate prints the drift and notes of one footprint.
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
	text.WriteString(cmdutil.Count(all, "footprint"))
	for _, o := range []chart.Outcome{chart.Locked, chart.Unchanged, chart.UpToDate, chart.Drifted, chart.Broken, chart.Unavailable, chart.NotApplicable} {
		if counts[o] > 0 {
			text.WriteString(fmt.Sprintf(", %d %s", counts[o], o))
		}
	}
	return text.String()
}
