package reservation

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/report"
)

func newBatchResults(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "results",
		Short: "Print the results of the nightly batches by version, intent and night",
		Long: `Print, for each reservation, the newest outcome of each version and intent of the matrix
with the number of nights in a row; then every outcome by night. Only passed is a pass;
blocked and not-started are shown as such.

flaky: the outcome changes between passed and failed for the same version. stale: it is in
the matrix but has not run for days. The JSON and the page have the thresholds.`,
		Example: `  firstlight reservation batch results

  # Write a page with the results of 30 nights
  firstlight reservation batch results --nights 30 -o html > results.html`,
		Args: cobra.NoArgs,
	}
	f := addStoreFlags(cmd)
	nights := cmd.Flags().Int("nights", 14, "number of newest batches to print; flaky and stale consider all")
	out := cmdutil.AddOutputFlag(cmd, "html")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *nights < 1 {
			return cmdutil.UsageErrorf("invalid --nights %d: must be at least 1", *nights)
		}
		thresholds, err := report.DefaultThresholds()
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		all, err := r.store.ListHandOvers(cmd.Context(), time.Time{})
		if err != nil {
			return storeError(err)
		}
		g := report.NewResults(all, report.ResultsOptions{Now: r.clock.Now().UTC().Truncate(time.Second), Nights: *nights, Thresholds: thresholds})
		if out.String() == "html" {
			return cmdutil.WriteWhole(s.Out, g.HTML)
		}
		return out.Write(s.Out, g, func(w io.Writer) { _ = g.Text(w) })
	}
	return cmd
}
