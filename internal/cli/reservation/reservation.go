// Package reservation has the command reservation.
package reservation

import (
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

// New is the command reservation.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reservation",
		Short: "Share GPU reservations: leases, queues, rotation and nightly batches",
		Long: `GPU capacity is reserved, scarce and shared: people hold it by day, the version matrix is
tested on it by night, and the two must never overlap. A lease gives one holder exclusive
use of a reservation for a limited time; other requests wait in a visible queue.

The registry, reservations.yaml, lists the reservations; the schedule, schedule.yaml, has
the times of the daytime rotation and of the nightly batch.`,
		Example: `  # List the reservations of a registry, and create them in the store
  firstlight reservation list --file examples/reservations.yaml
  firstlight reservation apply --file examples/reservations.yaml

  # Hold a reservation for four hours
  firstlight reservation acquire aws-h100 --for 4h --purpose "debugging NCCL"
  firstlight reservation release aws-h100

  # Show holders, expiry and queue length
  firstlight reservation get`,
	}
	cmd.AddCommand(
		newList(s), newSchedule(s), newGet(s), newDescribe(s), newHistory(s),
		newAcquire(s), newRenew(s), newExtend(s), newRelease(s), newClean(s), newConfirmRestore(s),
		newCheckout(s), newCheckin(s), newAccess(s), newRotation(s), newJanitor(s),
		newMetrics(s), newBatch(s), newCompat(s), newRun(s), newSimulate(s), newApply(s), newStore(s), newHook(s),
	)
	return cmd
}
