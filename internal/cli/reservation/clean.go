package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newClean(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clean NAME",
		Short: "Mark a dirty reservation as clean and free it",
		Args:  cobra.ExactArgs(1),
		Long: `A reservation is dirty after use or expiry, until it is cleaned. If the cloud has a hook,
firstlight reservation rotation down --reservation NAME removes every deployment and
verifies it. This command verifies nothing: it records the check by the operator in the
history, with the reason --why and the name --as.

Exit codes: 0 the reservation is free; 1 it was not dirty.`,
		Example: "  firstlight reservation clean aws-h100 --why 'nvidia-smi shows no process'",
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	holder := cmd.Flags().String("as", "", "operator (default: USER@HOST)")
	why := cmd.Flags().String("why", "", "the check by the operator, for the history")
	cmdutil.RequireFlags(cmd, "why")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		l, err := r.Clean(cmd.Context(), args[0], lease.Ticket{Holder: cmp.Or(*holder, defaultHolder()), Purpose: "cleaning", RenewInterval: lease.Duration(renewInterval)})
		if errors.Is(err, lease.ErrNotDirty) {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		if err == nil {
			err = r.FinishClean(cmd.Context(), args[0], l.Token, *why)
		}
		if err != nil {
			return storeError(err)
		}
		return out.Write(s.Out, l, func(w io.Writer) {
			fmt.Fprintf(w, "%s is free\n", args[0])
		})
	}
	return cmd
}
