package reservation

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newConfirmRestore(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "confirm-restore NAME",
		Short: "Mark a reservation as dirty after its store was restored from a backup",
		Args:  cobra.ExactArgs(1),
		Long: `A restored store does not know the leases that were granted after the backup. Their tokens
are refused as unknown and change nothing: such a token may also be mistyped, or from
another store. This command ends the lease in the backup, because its holder may not be
alone, and marks the reservation as dirty. It is for operators.

Exit codes: 0 the reservation is dirty; 1 the token is not newer than those of the store.`,
		Example: "  firstlight reservation confirm-restore aws-h100 --grant 1795300000123 --why 'etcd was restored from the snapshot of 02:00'",
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	token := cmd.Flags().Int64("grant", 0, "token that is unknown to the store")
	why := cmd.Flags().String("why", "", "reason for the history: which backup was restored")
	cmdutil.RequireFlags(cmd, "grant", "why")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		err = r.ConfirmRestore(cmd.Context(), args[0], *token, *why)
		if errors.Is(err, lease.ErrNotNewer) || errors.Is(err, broker.ErrNotOperator) {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		if err != nil {
			return storeError(err)
		}
		return out.Write(s.Out, map[string]any{"reservation": args[0], "state": lease.Dirty}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is dirty: %s cleans it\n", args[0], lease.CleanCommand(args[0]))
		})
	}
	return cmd
}
