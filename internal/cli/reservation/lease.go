package reservation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// tokenFlag is --grant; without it, what this machine remembers.
type tokenFlag struct{ token int64 }

func addTokenFlag(cmd *cobra.Command) *tokenFlag {
	f := &tokenFlag{}
	cmd.Flags().Int64Var(&f.token, "grant", 0, "token of the lease (without: that of the lease that was acquired on this machine)")
	return f
}

func (f *tokenFlag) of(r *reservations, name string) (int64, error) {
	if f.token > 0 {
		return f.token, nil
	}
	g, err := r.held.Get(name)
	if errors.Is(err, broker.ErrNoToken) {
		return 0, usage("%w: give its token with --grant; firstlight reservation who %s says which lease there is", err, name)
	}
	return g.Token, infrastructure(err)
}

// refused gives a refusal by the store its exit code: it is an answer.
func refused(err error) error {
	var stale *lease.StaleError
	var notHolder *lease.NotHolderError
	if errors.As(err, &stale) || errors.As(err, &notHolder) || errors.Is(err, lease.ErrTermOver) || errors.Is(err, lease.ErrPastMaxTerm) {
		return &exitError{code: ExitFailed, err: err}
	}
	return explainStore(err)
}

// leaseCommand is a command on a lease of one reservation.
func leaseCommand(s Streams, use, short, example string, do func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use + " NAME", Short: short, Example: example, Args: cobra.ExactArgs(1)}
	f, token, out := addStoreFlags(cmd), addTokenFlag(cmd), addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		t, err := token.of(r, args[0])
		if err != nil {
			return err
		}
		l, said, err := do(cmd.Context(), r, args[0], t)
		if err != nil {
			return refused(err)
		}
		return out.write(s.Out, l, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, said)
			return err
		})
	}
	return cmd
}

func newReservationRenew(s Streams) *cobra.Command {
	return leaseCommand(s, "renew", "Say that the holder is still there", "  firstlight reservation renew aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			l, err := r.Renew(ctx, name, token)
			return l, fmt.Sprintf("%s is yours until %s%s", name, untilText(l), noticeText(l)), err
		})
}

func noticeText(l lease.Lease) string {
	if l.Notice == nil {
		return ""
	}
	return fmt.Sprintf("; %s asks for it by %s: %s", l.Notice.By, l.Notice.At.UTC().Format(time.RFC3339), l.Notice.Reason)
}

func newReservationExtend(s Streams) *cobra.Command {
	by, why := time.Hour, ""
	cmd := leaseCommand(s, "extend", "Let a lease end later, as far as its limit", "  firstlight reservation extend aws-h100 --by 2h --why overnight",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			l, err := r.Extend(ctx, name, token, by, why)
			return l, fmt.Sprintf("%s is yours until %s", name, untilText(l)), err
		})
	cmd.Flags().DurationVar(&by, "by", by, "how much later")
	cmd.Flags().StringVar(&why, "why", "", "why, for others to read")
	return cmd
}

func newReservationRelease(s Streams) *cobra.Command {
	why := ""
	cmd := leaseCommand(s, "release", "Give a reservation back; it is cleaned before the next holder gets it", "  firstlight reservation release aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			if err := r.Release(ctx, name, token, why); err != nil {
				return lease.Lease{}, "", err
			}
			return lease.Lease{Token: token}, name + " is released", r.held.Delete(name, token)
		})
	cmd.Flags().StringVar(&why, "why", "", "why, for the history")
	return cmd
}
