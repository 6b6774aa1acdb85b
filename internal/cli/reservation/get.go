package reservation

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/store"
)

// shown is the -o json form of a reservation.
type shown struct {
	Name  string           `json:"name"`
	Spec  store.Spec       `json:"spec"`
	State lease.State      `json:"state"`
	Token int64            `json:"token,omitempty"`
	Lease *lease.Lease     `json:"lease,omitempty"`
	Dirt  *lease.DirtyInfo `json:"dirt,omitempty"`
	Queue []lease.Ticket   `json:"queue"`
}

func show(r *store.Reservation) shown {
	v := shown{Name: r.Name, Spec: r.Spec, State: r.Status.CurrentState(), Token: r.Status.Token, Lease: r.Status.Lease, Dirt: r.Status.DirtyInfo, Queue: r.Status.Queue}
	if v.Queue == nil {
		v.Queue = []lease.Ticket{}
	}
	return v
}

func newGet(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "get",
		Short: "List reservations with holder, expiry and queue length",
		Example: `  firstlight reservation get
  firstlight reservation get -o json`,
		Args: cobra.NoArgs,
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		all, err := r.store.List(cmd.Context())
		if err != nil {
			return storeError(err)
		}
		list := []shown{}
		for _, one := range all {
			list = append(list, show(one))
		}
		return out.Write(s.Out, list, func(w io.Writer) { printHolders(w, list) })
	}
	return cmd
}

func printHolders(w io.Writer, list []shown) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no reservations found: add those of a registry with firstlight reservation apply --file reservations.yaml")
		return
	}
	table := display.NewTable(w, "RESERVATION", "STATE", "HOLDER", "PURPOSE", "UNTIL", "QUEUE", "TOKEN")
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
		table.Row(v.Name, v.State, holder, purpose, until, len(v.Queue), v.Token)
	}
	table.Flush()
}

// withUser adds the authenticated user to a holder, if they differ: "alice@host (by bob)".
func withUser(holder, relation, user string) string {
	if user == "" || user == holder || strings.HasPrefix(holder, user+"@") {
		return holder
	}
	return strings.TrimSpace(holder + " (" + relation + " " + user + ")")
}

func newDescribe(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "describe NAME",
		Short:   "Print the holder, the queue and the recent events of a reservation",
		Example: "  firstlight reservation describe aws-h100",
		Args:    cobra.ExactArgs(1),
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		one, err := r.store.Get(cmd.Context(), args[0])
		if err != nil {
			return storeError(err)
		}
		v := struct {
			shown
			Recent []lease.Event `json:"recent"`
		}{show(one), one.Status.Recent}
		return out.Write(s.Out, v, func(w io.Writer) {
			printHolders(w, []shown{v.shown})
			printQueue(w, v.Queue)
			fmt.Fprintln(w, "\nrecent events:")
			printTransitions(w, v.Recent[max(0, len(v.Recent)-10):])
		})
	}
	return cmd
}

func printQueue(w io.Writer, queue []lease.Ticket) {
	if len(queue) == 0 {
		fmt.Fprintln(w, "\nthe queue is empty")
		return
	}
	fmt.Fprintln(w, "\nqueue:")
	table := display.NewTable(w, "PLACE", "HOLDER", "PURPOSE", "CLASS", "SINCE")
	for i, t := range queue {
		table.Row(i+1, t.Holder, t.Purpose, t.Class, t.QueuedAt.UTC().Format(time.RFC3339))
	}
	table.Flush()
}

func newHistory(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Print every event of a reservation with time, actor, token and reason",
		Example: `  firstlight reservation history aws-h100
  firstlight reservation history aws-h100 --since 24h -o json`,
		Args: cobra.ExactArgs(1),
	}
	f, out := addStoreFlags(cmd), cmdutil.AddOutputFlag(cmd)
	since := cmd.Flags().Duration("since", 0, "print events that are not older than this")
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
			return storeError(err)
		}
		if list == nil {
			list = []lease.Event{}
		}
		return out.Write(s.Out, list, func(w io.Writer) { printTransitions(w, list) })
	}
	return cmd
}

func printTransitions(w io.Writer, list []lease.Event) {
	table := display.NewTable(w, "TIME", "EVENT", "STATE", "ACTOR", "TOKEN", "REASON")
	for _, t := range list {
		table.Row(t.At.UTC().Format(time.RFC3339), t.Type, t.State, withUser(t.Actor, "by", t.User), t.Token, t.Reason)
	}
	table.Flush()
}
