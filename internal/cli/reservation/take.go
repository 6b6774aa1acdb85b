package reservation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

func newReservationTake(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "take NAME", Short: "Take what was stood up for people by day", Args: cobra.ExactArgs(1),
		Long: `The rotation opens what it has stood up to one person at a time. It is yours until the
evening, or until you hand it back; what stands there stays for the next.

Exit codes: 0 it is yours, 1 nothing stands there or somebody else has taken it.`,
		Example: `  firstlight reservation take aws-h100 --purpose "debugging NCCL"
  firstlight reservation hand-back aws-h100`,
	}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	holder := cmd.Flags().String("as", "", "who holds it (default: you, on this machine)")
	purpose := cmd.Flags().String("purpose", "", "what it is for, for others to read")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		l, err := r.Checkout(cmd.Context(), args[0], lease.Ticket{Holder: cmp.Or(*holder, whoIsThis()), Purpose: *purpose})
		if errors.Is(err, lease.ErrNotAvailable) {
			return &exitError{code: ExitFailed, err: err}
		}
		if err != nil {
			return explainStore(err)
		}
		g := broker.Grant{Reservation: args[0], Lease: l}
		if err := r.held.Put(g); err != nil {
			return infrastructure(err)
		}
		return out.write(s.Out, g, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s is yours until %s (token %d)\n  longer:  firstlight reservation extend %s --by 30m\n  done:    firstlight reservation hand-back %s\n",
				g.Reservation, untilText(l), l.Token, g.Reservation, g.Reservation)
			return err
		})
	}
	return cmd
}

func newReservationHandBack(s Streams) *cobra.Command {
	why := ""
	cmd := leaseCommand(s, "hand-back", "Give back what you took; it stays for the next", "  firstlight reservation hand-back aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			if err := r.Checkin(ctx, name, token, why); err != nil {
				return lease.Lease{}, "", err
			}
			return lease.Lease{Token: token}, name + " is handed back", r.held.Delete(name, token)
		})
	cmd.Flags().StringVar(&why, "why", "", "why, for the history")
	return cmd
}
