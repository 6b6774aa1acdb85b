package reservation

import "github.com/spf13/cobra"

func newReservation(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reservation",
		Short: "Share scarce GPU reservations: leases, queues, who has what",
		Long: `GPU capacity is reserved, scarce and shared: by day people hold it, by night the
version matrix runs on it, and the two must never meet. A lease gives one holder
exclusive use of a reservation for a time; who has to wait stands in a queue that
everybody can see.

A registry, reservations.yaml, says what there is, one lease a row; a schedule,
schedule.yaml, says when people have it and when the nightly batch does.`,
		Example: `  firstlight reservation list --file examples/reservations.yaml
  firstlight reservation apply --file examples/reservations.yaml
  firstlight reservation acquire aws-h100 --for 4h --purpose "debugging NCCL"
  firstlight reservation holders
  firstlight reservation release aws-h100`,
	}
	cmd.AddCommand(
		newReservationList(s), newReservationSchedule(s),
		newReservationAcquire(s), newReservationRenew(s), newReservationExtend(s), newReservationRelease(s), newReservationClean(s), newReservationConfirmRestore(s),
		newReservationHolders(s), newReservationQueue(s), newReservationWho(s), newReservationHistory(s),
		newReservationTake(s), newReservationHandBack(s), newReservationRotation(s), newReservationJanitor(s),
		newReservationMetrics(s), newReservationAccess(s), newReservationBatch(s), newReservationFloors(s),
		newReservationRun(s), newReservationRehearse(s), newReservationApply(s), newReservationStore(s), newReservationHook(s),
	)
	return cmd
}
