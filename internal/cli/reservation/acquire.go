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

	"github.com/firstlight/firstlight/internal/reservation/broker"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// acquireFlags are the terms of a lease.
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

// heartbeat is the period of a lease that a command of ours renews.
const heartbeat = time.Minute

func newReservationAcquire(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acquire [NAME] [-- COMMAND [ARG...]]",
		Short: "Take a lease of a reservation, or wait for it",
		Long: `A lease gives one holder exclusive use of a reservation until it is released, or its
term is over. With a command after --, the lease is renewed while the command runs, and
released when it ends; where it can not be renewed any more the command is stopped,
because somebody else may have the reservation then.

Each lease has a token, which only grows. Whoever acts in its name passes it on:
a stale token is refused. Commands get it as FIRSTLIGHT_LEASE_TOKEN.

Exit codes: 0 acquired (with a command: the command's own), 1 not free, 3 the lease was
lost or could not be asked for.`,
		Example: `  firstlight reservation acquire aws-h100 --for 4h --purpose "debugging NCCL"
  firstlight reservation acquire gcp-h100 --wait 30m -- ./train.sh
  firstlight reservation acquire --all aws-h100,gcp-h100 --wait 2h    # all or none`,
		Args: cobra.ArbitraryArgs,
	}
	f := &acquireFlags{store: addStoreFlags(cmd)}
	cmd.Flags().StringVar(&f.holder, "as", "", "who holds it (default: you, on this machine)")
	cmd.Flags().StringVar(&f.purpose, "purpose", "", "what it is for, for others to read")
	cmd.Flags().StringVar(&f.class, "class", lease.People, "whose turn comes first in a queue: nightly before people")
	cmd.Flags().DurationVar(&f.term, "for", 4*time.Hour, "how long the lease lasts without an extension")
	cmd.Flags().DurationVar(&f.limit, "limit", 12*time.Hour, "how long it may last with extensions")
	cmd.Flags().DurationVar(&f.period, "period", heartbeat, "with a command: within what time the lease has to be renewed")
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "how long to wait in the queue")
	cmd.Flags().StringSliceVar(&f.all, "all", nil, "take these together, all or none")
	out := addOutputFlag(cmd)
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
			return underLease(cmd.Context(), s, r, grants, command)
		}
		for _, g := range grants {
			if err := r.held.Put(g); err != nil {
				return infrastructure(err)
			}
		}
		return out.write(s.Out, grants, func(w io.Writer) error { return printGrants(w, grants) })
	}
	return cmd
}

func (f *acquireFlags) split(cmd *cobra.Command, args []string) (names, command []string, err error) {
	if i := cmd.ArgsLenAtDash(); i >= 0 {
		args, command = args[:i], args[i:]
		if len(command) == 0 {
			return nil, nil, usage("there is no command after --")
		}
	}
	if _, ok := lease.PriorityOf(f.class); !ok {
		return nil, nil, usage("--class %q is not one of people, nightly", f.class)
	}
	if f.term <= 0 || f.limit < f.term || f.period < time.Second || f.wait < 0 {
		return nil, nil, usage("--for %s, --limit %s, --period %s, --wait %s: want a term above 0, a limit of at least the term, a period of at least 1s", f.term, f.limit, f.period, f.wait)
	}
	names = append(args, f.all...) //nolint:gocritic // args are this function's
	switch {
	case len(names) == 0:
		return nil, nil, usage("name a reservation, or several with --all A,B")
	case len(args) > 1 || len(args) == 1 && len(f.all) > 0:
		return nil, nil, usage("name one reservation, or several with --all %s", strings.Join(names, ","))
	}
	return names, command, nil
}

func (f *acquireFlags) acquire(ctx context.Context, s Streams, r *reservations, names []string, renewed bool) ([]broker.Grant, error) {
	priority, _ := lease.PriorityOf(f.class) // split has refused what is none
	t := lease.Ticket{
		Holder: cmp.Or(f.holder, whoIsThis()), Purpose: f.purpose, Class: f.class, Priority: priority,
		Term: lease.Duration(f.term), MaxTerm: lease.Duration(f.limit), WaitTimeout: lease.Duration(heartbeat),
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
		return nil, &exitError{code: ExitFailed, err: fmt.Errorf("%w\n%s", err, busyRemedy(busy))}
	case ctx.Err() == nil && waiting.Err() != nil:
		return nil, &exitError{code: ExitFailed, err: fmt.Errorf("%w; see who has it: firstlight reservation holders", err)}
	default:
		return nil, explainStore(err)
	}
}

// busyRemedy says what to do about a reservation that is not free.
func busyRemedy(busy *broker.BusyError) string {
	if busy.State == lease.Dirty {
		return fmt.Sprintf("it has to be cleaned: firstlight reservation rotation down --reservation %s, or look yourself and vouch for it: firstlight reservation clean %s", busy.Reservation, busy.Reservation)
	}
	return "wait for it: --wait 1h; see who has it: firstlight reservation who " + busy.Reservation
}

func placeText(p broker.Place) string {
	who := ""
	if p.Holder != "" {
		who = " by " + p.Holder
	}
	if p.Position == 0 {
		return p.Reservation + " is yours next, waiting for the others"
	}
	return fmt.Sprintf("%s is %s%s; you are number %d in its queue", p.Reservation, p.State, who, p.Position)
}

func printGrants(w io.Writer, grants []broker.Grant) error {
	for _, g := range grants {
		_, err := fmt.Fprintf(w, "%s is yours until %s (token %d)\n  longer:  firstlight reservation extend %s --by 1h\n  done:    firstlight reservation release %s\n",
			g.Reservation, untilText(g.Lease), g.Token, g.Reservation, g.Reservation)
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was doing
		}
	}
	return nil
}

func untilText(l lease.Lease) string {
	if l.ExpiresAt == nil {
		return "it is released"
	}
	return l.ExpiresAt.UTC().Format(time.RFC3339)
}
