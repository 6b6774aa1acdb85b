package reservation

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/report"
)

func newBatchGrid(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grid",
		Short: "Print what the nights came to: by version and intent, and by night",
		Long: `grid prints, for each reservation, the newest outcome of each version and intent that the
matrix has, and for how many nights in a row it has been that; then every outcome, by
night. Only passed is a pass: what was blocked, or did not begin, is shown as that.

flaky: it goes from passed to failed and back, at the same version. stale: the matrix has it,
and it has not run for days. By when, and why then, is in the JSON and on the page.`,
		Example: `  firstlight reservation batch grid
  firstlight reservation batch grid --nights 30 -o html > grid.html`,
		Args: cobra.NoArgs,
	}
	f := addStoreFlags(cmd)
	nights := cmd.Flags().Int("nights", 14, "how many batches are shown, the newest; all that are kept count for what is flaky or stale")
	out := addChoice(cmd, "table", "json", "html")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *nights < 1 {
			return usage("--nights %d: want at least 1", *nights)
		}
		thresholds, err := report.DefaultThresholds()
		if err != nil {
			return infrastructure(err)
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		all, err := r.store.ListHandOvers(cmd.Context(), time.Time{})
		if err != nil {
			return explainStore(err)
		}
		g := report.NewResults(all, report.ResultsOptions{Now: r.clock.Now().UTC().Truncate(time.Second), Nights: *nights, Thresholds: thresholds})
		return writeWhole(s.Out, func(w io.Writer) error {
			switch out.value {
			case "json":
				return writeJSON(w, g, "  ")
			case "html":
				return g.HTML(w)
			default:
				return g.Text(w)
			}
		})
	}
	return cmd
}
