package reservation

import (
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func newBatch(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch",
		Short: "Plan the nightly batch and print its results",
		Long: `By night the version matrix is tested on the reservations: the main branch and the newest
stable releases, with the intents of each row of the registry.`,
		Example: `  # Print what the next batch runs
  firstlight reservation batch plan --file examples/reservations.yaml --schedule examples/schedule.yaml --batch examples/batch.yaml

  # Print the results of the last two weeks
  firstlight reservation batch results --nights 14`,
	}
	cmd.AddCommand(newBatchPlan(s), newBatchResults(s))
	return cmd
}
