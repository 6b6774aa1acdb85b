package reservation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newCheckout(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "checkout NAME",
		Short: "Check out the daytime deployment of a reservation",
		Args:  cobra.ExactArgs(1),
		Long: `The rotation opens each daytime deployment to one person at a time. It is yours until the
evening or until you check it in; the deployment is kept for the next holder.

Exit codes: 0 checked out; 1 there is no open deployment, or it has another holder.`,
		Example: `  firstlight reservation checkout aws-h100 --purpose "debugging NCCL"
  firstlight reservation checkin aws-h100`,
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	holder := cmd.Flags().String("as", "", "holder (default: USER@HOST)")
	purpose := cmd.Flags().String("purpose", "", "purpose, visible to others")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		l, err := r.Checkout(cmd.Context(), args[0], lease.Ticket{Holder: cmp.Or(*holder, defaultHolder()), Purpose: *purpose})
		if errors.Is(err, lease.ErrNotAvailable) {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		if err != nil {
			return storeError(err)
		}
		g := broker.Grant{Reservation: args[0], Lease: l}
		if err := r.held.Put(g); err != nil {
			return cmdutil.Unobserved(err)
		}
		return out.Write(s.Out, g, func(w io.Writer) {
			fmt.Fprintf(w, grantText, g.Reservation, untilText(l), l.Token, "30m", "checkin")
		})
	}
	return cmd
}

func newCheckin(s cmdutil.Streams) *cobra.Command {
	why := ""
	cmd := leaseCommand(s, "checkin", "Check in a deployment; it is kept for the next holder", "  firstlight reservation checkin aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			if err := r.Checkin(ctx, name, token, why); err != nil {
				return lease.Lease{}, "", err
			}
			return lease.Lease{Token: token}, name + " is checked in", r.held.Delete(name, token)
		})
	cmd.Flags().StringVar(&why, "why", "", "reason, for the history")
	return cmd
}
