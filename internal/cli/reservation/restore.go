package reservation

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newReservationConfirmRestore(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm-restore NAME", Short: "Mark a reservation as dirty after its store was restored from a backup", Args: cobra.ExactArgs(1),
		Long: `A store that was restored from a backup does not know the leases that were granted after it.
Its clients refuse their tokens as not granted by this store, and change nothing: such a token
may also be mistyped, or of another store. This command ends the lease that the backup has,
because its holder may not be alone, and marks the reservation as dirty. It is for operators.

Exit codes: 0 the reservation is dirty, 1 the token is not newer than those of the store.`,
		Example: "  firstlight reservation confirm-restore aws-h100 --grant 1795300000123 --why 'etcd was restored from the snapshot of 02:00'",
	}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	token := cmd.Flags().Int64("grant", 0, "token that the store does not know")
	why := cmd.Flags().String("why", "", "which backup was restored, for the history")
	for _, name := range []string{"grant", "why"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		err = r.ConfirmRestore(cmd.Context(), args[0], *token, *why)
		if errors.Is(err, lease.ErrNotNewer) || errors.Is(err, broker.ErrNotOperator) {
			return &exitError{code: ExitFailed, err: err}
		}
		if err != nil {
			return explainStore(err)
		}
		return out.write(s.Out, map[string]any{"reservation": args[0], "state": lease.Dirty}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s is dirty: firstlight reservation rotation down --reservation %s cleans it\n", args[0], args[0])
			return err
		})
	}
	return cmd
}
