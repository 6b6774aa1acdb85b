package reservation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

type acquireFlags struct {
	store   *storeFlags
	holder  string
	purpose string
	class   string
	term    time.Duration
	limit   time.Duration
	period  time.Duration
	wait    time.Duration
	all     []string
}

// renewInterval is the default time in which a command renews its lease.
const renewInterval = time.Minute

func newAcquire(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acquire [NAME] [-- COMMAND [ARG...]]",
		Short: "Acquire a lease of a reservation, or wait for it",
		Long: `A lease gives one holder exclusive use of a reservation until its release or expiry. With
a command after --, the lease is renewed while the command runs and released when it
ends. If the lease cannot be renewed, the command is stopped, because the reservation may
have another holder.

Each lease has a fencing token, which only increases. Every action passes it on, and a
stale token is refused. The command gets it as FIRSTLIGHT_LEASE_TOKEN.

Exit codes: 0 acquired (with a command: its own exit code); 1 not free; 3 the lease was
lost, or the store is unavailable.`,
		Example: `  # Hold a reservation for four hours
  firstlight reservation acquire aws-h100 --for 4h --purpose "debugging NCCL"

  # Wait up to 30 minutes, then run a command under the lease
  firstlight reservation acquire gcp-h100 --wait 30m -- ./train.sh

  # Acquire two reservations, all or none
  firstlight reservation acquire --all aws-h100,gcp-h100 --wait 2h`,
		Args: cobra.ArbitraryArgs,
	}
	f := &acquireFlags{store: addStoreFlags(cmd)}
	cmd.Flags().StringVar(&f.holder, "as", "", "holder (default: USER@HOST)")
	cmd.Flags().StringVar(&f.purpose, "purpose", "", "purpose, visible to others")
	cmd.Flags().StringVar(&f.class, "class", lease.People, "queue class: nightly or people; nightly is served first")
	cmd.Flags().DurationVar(&f.term, "for", 4*time.Hour, "term of the lease")
	cmd.Flags().DurationVar(&f.limit, "limit", 12*time.Hour, "longest term with extensions")
	cmd.Flags().DurationVar(&f.period, "period", renewInterval, "time in which a lease with a command must be renewed")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "longest time to wait in the queue")
	cmd.Flags().StringSliceVar(&f.all, "all", nil, "acquire these reservations together, all or none")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		names, command, err := f.split(cmd, args)
		if err != nil {
			return err
		}
		r, err := f.store.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		grants, err := f.acquire(cmd.Context(), s, r, names, len(command) > 0)
		if err != nil {
			return err
		}
		if len(command) > 0 {
			return runUnderLease(cmd.Context(), s, r, grants, command)
		}
		for _, g := range grants {
			if err := r.held.Put(g); err != nil {
				return cmdutil.Unobserved(err)
			}
		}
		return out.Write(s.Out, grants, func(w io.Writer) { printGrants(w, grants) })
	}
	return cmd
}

func (f *acquireFlags) split(cmd *cobra.Command, args []string) (names, command []string, err error) {
	if i := cmd.ArgsLenAtDash(); i >= 0 {
		args, command = args[:i], args[i:]
		if len(command) == 0 {
			return nil, nil, cmdutil.UsageErrorf("no command after --")
		}
	}
	if _, ok := lease.PriorityOf(f.class); !ok {
		return nil, nil, cmdutil.UsageErrorf("unknown --class %q: want one of people, nightly", f.class)
	}
	if f.term <= 0 || f.limit < f.term || f.period < time.Second || f.wait < 0 {
		return nil, nil, cmdutil.UsageErrorf("invalid --for %s, --limit %s, --period %s or --wait %s: --for must be positive, --limit at least --for, --period at least 1s", f.term, f.limit, f.period, f.wait)
	}
	names = append(args, f.all...)
	switch {
	case len(names) == 0:
		return nil, nil, cmdutil.UsageErrorf("no reservation given: name one, or several with --all A,B")
	case len(args) > 1 || len(args) == 1 && len(f.all) > 0:
		return nil, nil, cmdutil.UsageErrorf("too many reservations: name one, or several with --all %s", strings.Join(names, ","))
	}
	return names, command, nil
}

func (f *acquireFlags) acquire(ctx context.Context, s cmdutil.Streams, r *reservations, names []string, renewed bool) ([]broker.Grant, error) {
	priority, _ := lease.PriorityOf(f.class) // validated by split
	t := lease.Ticket{
		Holder: cmp.Or(f.holder, defaultHolder()), Purpose: f.purpose, Class: f.class, Priority: priority,
		Term: lease.Duration(f.term), MaxTerm: lease.Duration(f.limit), WaitTimeout: lease.Duration(renewInterval),
	}
	if renewed {
		t.RenewInterval = lease.Duration(f.period)
	}
	waiting := ctx
	if f.wait > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeoutCause(ctx, f.wait, fmt.Errorf("not free within %s", f.wait))
		defer cancel()
	}
	grants, err := r.Acquire(waiting, broker.Request{
		Reservations: names, Ticket: t, Wait: f.wait > 0,
		Progress: func(places []broker.Place) {
			for _, p := range places {
				fmt.Fprintf(s.Err, "%s  %s\n", time.Now().UTC().Format("15:04:05"), placeText(p))
			}
		},
	})
	var busy *broker.BusyError
	switch {
	case err == nil:
		return grants, nil
	case errors.As(err, &busy):
		return nil, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%w\n%s", err, busyRemedy(busy))}
	case ctx.Err() == nil && waiting.Err() != nil:
		return nil, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("%w; see firstlight reservation get", err)}
	default:
		return nil, storeError(err)
	}
}

// busyRemedy is the remedy for a reservation that is not free.
func busyRemedy(busy *broker.BusyError) string {
	if busy.State == lease.Dirty {
		return fmt.Sprintf("clean it with %s, or check it and run firstlight reservation clean %s", lease.CleanCommand(busy.Reservation), busy.Reservation)
	}
	return "wait for it with --wait 1h; see firstlight reservation describe " + busy.Reservation
}

func placeText(p broker.Place) string {
	by := ""
	if p.Holder != "" {
		by = " by " + p.Holder
	}
	if p.Position == 0 {
		return p.Reservation + " is offered to you, waiting for the others"
	}
	return fmt.Sprintf("%s is %s%s; you are number %d in the queue", p.Reservation, p.State, by, p.Position)
}

func printGrants(w io.Writer, grants []broker.Grant) {
	for _, g := range grants {
		fmt.Fprintf(w, grantText, g.Reservation, untilText(g.Lease), g.Token, "1h", "release")
	}
}

// grantText has a reservation, expiry, token, extension and the command that ends the use.
const grantText = `%[1]s is yours until %[2]s (token %[3]d)
  extend: firstlight reservation extend %[1]s --by %[4]s
  end:    firstlight reservation %[5]s %[1]s
`

func untilText(l lease.Lease) string {
	if l.ExpiresAt == nil {
		return "it is released"
	}
	return l.ExpiresAt.UTC().Format(time.RFC3339)
}
