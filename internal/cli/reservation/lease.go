package reservation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// tokenFlag is --grant. The default is the token that acquire stored on this machine.
type tokenFlag struct{ token int64 }

func addTokenFlag(cmd *cobra.Command) *tokenFlag {
	f := &tokenFlag{}
	cmd.Flags().Var(f, "grant", "token of the lease (default: that of the lease acquired on this machine)")
	return f
}

// String, Set and Type make it a flag that refuses a token that no store grants.
func (f *tokenFlag) String() string { return strconv.FormatInt(f.token, 10) }
func (f *tokenFlag) Type() string   { return "int" }
func (f *tokenFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return errors.New("must be a positive number")
	}
	f.token = n
	return nil
}

func (f *tokenFlag) of(r *reservations, name string) (int64, error) {
	if f.token > 0 {
		return f.token, nil
	}
	g, err := r.held.Get(name)
	if errors.Is(err, broker.ErrNoToken) {
		return 0, cmdutil.UsageErrorf("%w: give its token with --grant; firstlight reservation describe %s shows the lease", err, name)
	}
	return g.Token, cmdutil.Unobserved(err)
}

// leaseError makes a refusal by the store exit with ExitFailed.
func leaseError(err error) error {
	var stale *lease.StaleError
	var notHolder *lease.NotHolderError
	if errors.As(err, &stale) || errors.As(err, &notHolder) || errors.Is(err, lease.ErrTermOver) || errors.Is(err, lease.ErrPastMaxTerm) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	}
	return storeError(err)
}

// leaseCommand is a command on a lease of one reservation.
func leaseCommand(s cmdutil.Streams, use, short, example string, do func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use + " NAME", Short: short, Example: example, Args: cobra.ExactArgs(1)}
	f, token, out := addStoreFlags(cmd), addTokenFlag(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		t, err := token.of(r, args[0])
		if err != nil {
			return err
		}
		l, message, err := do(cmd.Context(), r, args[0], t)
		if err != nil {
			return leaseError(err)
		}
		return out.Write(s.Out, l, func(w io.Writer) {
			fmt.Fprintln(w, message)
		})
	}
	return cmd
}

func newRenew(s cmdutil.Streams) *cobra.Command {
	return leaseCommand(s, "renew", "Renew a lease before it expires", "  firstlight reservation renew aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			l, err := r.Renew(ctx, name, token)
			return l, fmt.Sprintf("%s is yours until %s%s", name, untilText(l), noticeText(l)), err
		})
}

func noticeText(l lease.Lease) string {
	if l.Notice == nil {
		return ""
	}
	return fmt.Sprintf("; %s asks for its release by %s: %s", l.Notice.By, l.Notice.At.UTC().Format(time.RFC3339), l.Notice.Reason)
}

func newExtend(s cmdutil.Streams) *cobra.Command {
	by, why := time.Duration(0), ""
	cmd := leaseCommand(s, "extend", "Extend a lease, up to its limit", "  firstlight reservation extend aws-h100 --by 2h --why overnight",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			l, err := r.Extend(ctx, name, token, by, why)
			return l, fmt.Sprintf("%s is yours until %s", name, untilText(l)), err
		})
	cmd.Flags().DurationVar(&by, "by", by, "extension")
	cmdutil.RequireFlags(cmd, "by")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("by") && by <= 0 {
			return cmdutil.UsageErrorf("invalid --by %s: must be positive", by)
		}
		return nil
	}
	cmd.Flags().StringVar(&why, "why", "", "reason, visible to others")
	return cmd
}

func newRelease(s cmdutil.Streams) *cobra.Command {
	why := ""
	cmd := leaseCommand(s, "release", "Release a reservation; it is cleaned before the next lease", "  firstlight reservation release aws-h100",
		func(ctx context.Context, r *reservations, name string, token int64) (lease.Lease, string, error) {
			if err := r.Release(ctx, name, token, why); err != nil {
				return lease.Lease{}, "", err
			}
			return lease.Lease{Token: token}, name + " is released", r.held.Delete(name, token)
		})
	cmd.Flags().StringVar(&why, "why", "", "reason, for the history")
	return cmd
}
