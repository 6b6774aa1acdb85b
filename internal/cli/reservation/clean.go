package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newReservationClean(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "clean NAME", Short: "Vouch that a dirty reservation is clean, and free it", Args: cobra.ExactArgs(1),
		Long: `What was used, or expired, is dirty until it was cleaned. Where a hook does a cloud's part,
firstlight reservation rotation down --reservation NAME takes down what stands there and
sees that nothing does any more. This command looks at nothing: whoever runs it has, and
says so with --why, which stays in the history under the name given with --as.

Exit codes: 0 it is free, 1 it was not dirty.`,
		Example: "  firstlight reservation clean aws-h100 --why 'nvidia-smi shows no process'",
	}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	holder := cmd.Flags().String("as", "", "who vouches for it (default: you, on this machine)")
	why := cmd.Flags().String("why", "", "what was looked at")
	if err := cmd.MarkFlagRequired("why"); err != nil {
		panic(err) // the flag was added one line above
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		l, err := r.Clean(cmd.Context(), args[0], lease.Ticket{Holder: cmp.Or(*holder, whoIsThis()), Purpose: "cleaning", RenewInterval: lease.Duration(heartbeat)})
		if errors.Is(err, lease.ErrNotDirty) {
			return &exitError{code: ExitFailed, err: err}
		}
		if err == nil {
			err = r.FinishClean(cmd.Context(), args[0], l.Token, *why)
		}
		if err != nil {
			return explainStore(err)
		}
		return out.write(s.Out, l, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s is free\n", args[0])
			return err
		})
	}
	return cmd
}
