package reservation

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// shown is a reservation as -o json shows it.
type shown struct {
	Name  string           `json:"name"`
	Spec  store.Spec       `json:"spec"`
	State lease.State      `json:"state"`
	Token int64            `json:"token,omitempty"`
	Lease *lease.Lease     `json:"lease,omitempty"`
	Dirt  *lease.DirtyInfo `json:"dirtyInfo,omitempty"`
	Queue []lease.Ticket   `json:"queue"`
}

func show(r *store.Reservation) shown {
	v := shown{Name: r.Name, Spec: r.Spec, State: r.Status.CurrentState(), Token: r.Status.Token, Lease: r.Status.Lease, Dirt: r.Status.DirtyInfo, Queue: r.Status.Queue}
	if v.Queue == nil {
		v.Queue = []lease.Ticket{}
	}
	return v
}

func newReservationHolders(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "holders", Short: "Who has what, until when, and how many wait", Args: cobra.NoArgs, Example: "  firstlight reservation holders -o json"}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		all, err := r.store.List(cmd.Context())
		if err != nil {
			return explainStore(err)
		}
		list := []shown{}
		for _, one := range all {
			list = append(list, show(one))
		}
		return out.write(s.Out, list, func(w io.Writer) error { return printHolders(w, list) })
	}
	return cmd
}

func printHolders(w io.Writer, list []shown) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "there are no reservations: firstlight reservation apply --file reservations.yaml adds those of a registry")
		return err //nolint:wrapcheck // the caller says what it was doing
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "RESERVATION\tSTATE\tHOLDER\tFOR\tUNTIL\tQUEUE\tTOKEN")
	for _, v := range list {
		holder, purpose, until := "", "", ""
		switch {
		case v.Lease != nil:
			holder, purpose = withUser(v.Lease.Holder, "user", v.Lease.User), v.Lease.Purpose
			if v.Lease.Offered() {
				until = "offered"
			} else {
				until = untilText(*v.Lease)
			}
		case v.Dirt != nil:
			purpose = v.Dirt.Reason
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", v.Name, v.State, orDash(holder), orDash(purpose), orDash(until), len(v.Queue), v.Token)
	}
	return tw.Flush() //nolint:wrapcheck // the caller says what it was doing
}

func orDash(s string) string { return cmp.Or(s, "-") }

// withUser is a holder and, where it is another, an authenticated user: ada@desk (by eve).
func withUser(holder, relation, user string) string {
	if user == "" || user == holder || strings.HasPrefix(holder, user+"@") {
		return holder
	}
	return strings.TrimSpace(holder + " (" + relation + " " + user + ")")
}

func newReservationQueue(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "queue [NAME]", Short: "Who waits, since when, in which place", Args: cobra.MaximumNArgs(1), Example: "  firstlight reservation queue aws-h100"}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		all, err := chosen(cmd, r, args)
		if err != nil {
			return err
		}
		type place struct {
			Reservation string `json:"reservation"`
			Position    int    `json:"position"`
			lease.Ticket
		}
		list := []place{}
		for _, one := range all {
			for i, t := range one.Status.Queue {
				list = append(list, place{Reservation: one.Name, Position: i + 1, Ticket: t})
			}
		}
		return out.write(s.Out, list, func(w io.Writer) error {
			if len(list) == 0 {
				_, err := fmt.Fprintln(w, "nobody waits")
				return err
			}
			tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "RESERVATION\tPLACE\tHOLDER\tFOR\tCLASS\tSINCE")
			for _, p := range list {
				fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\t%s\n", p.Reservation, p.Position, p.Holder, orDash(p.Purpose), orDash(p.Class), p.QueuedAt.UTC().Format(time.RFC3339))
			}
			return tw.Flush()
		})
	}
	return cmd
}

// chosen are the reservations that a command is about: one, or all.
func chosen(cmd *cobra.Command, r *reservations, args []string) ([]*store.Reservation, error) {
	if len(args) == 0 {
		all, err := r.store.List(cmd.Context())
		return all, explainStore(err)
	}
	one, err := r.store.Get(cmd.Context(), args[0])
	return []*store.Reservation{one}, explainStore(err)
}

func newReservationWho(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "who NAME", Short: "Who has a reservation, who waits for it, and what happened last", Args: cobra.ExactArgs(1), Example: "  firstlight reservation who aws-h100"}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		one, err := r.store.Get(cmd.Context(), args[0])
		if err != nil {
			return explainStore(err)
		}
		v := struct {
			shown
			Recent []lease.Event `json:"recent"`
		}{show(one), one.Status.Recent}
		return out.write(s.Out, v, func(w io.Writer) error {
			if err := printHolders(w, []shown{v.shown}); err != nil {
				return err
			}
			fmt.Fprintln(w)
			return printTransitions(w, v.Recent[max(0, len(v.Recent)-10):])
		})
	}
	return cmd
}

func newReservationHistory(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "history NAME", Short: "Everything that happened to a reservation, with who, when, token and why", Args: cobra.ExactArgs(1), Example: "  firstlight reservation history aws-h100 --since 24h -o json"}
	f, out := addStoreFlags(cmd), addOutputFlag(cmd)
	since := cmd.Flags().Duration("since", 0, "only what is not older")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		from := time.Time{}
		if *since > 0 {
			from = time.Now().Add(-*since)
		}
		list, err := r.store.History(cmd.Context(), args[0], from)
		if err != nil {
			return explainStore(err)
		}
		if list == nil {
			list = []lease.Event{}
		}
		return out.write(s.Out, list, func(w io.Writer) error { return printTransitions(w, list) })
	}
	return cmd
}

func printTransitions(w io.Writer, list []lease.Event) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "AT\tWHAT\tSTATE\tWHO\tTOKEN\tWHY")
	for _, t := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%s\n", t.At.UTC().Format(time.RFC3339), t.Type, t.State, orDash(withUser(t.Actor, "by", t.User)), t.Token, orDash(t.Reason))
	}
	return tw.Flush() //nolint:wrapcheck // the caller says what it was doing
}
