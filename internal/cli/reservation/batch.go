package reservation

import "github.com/spf13/cobra"

func newReservationBatch(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "batch",
		Short: "The nightly batch: what it would run, and what came of it",
		Long: `By night the version matrix runs on the reservations: the main branch and the newest
stable releases, with the intents that each row of the registry names. plan says what the
next night would run; grid says what came of the nights there were.`,
		Example: `  firstlight reservation batch plan --file examples/reservations.yaml --schedule examples/schedule.yaml --batch examples/batch.yaml
  firstlight reservation batch grid --nights 14
  firstlight reservation batch grid -o html > grid.html`,
	}
	cmd.AddCommand(newBatchPlan(s), newBatchGrid(s))
	return cmd
}
