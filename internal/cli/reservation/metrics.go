package reservation

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	rsvmetrics "github.com/firstlight/firstlight/internal/reservation/report"
	"github.com/firstlight/firstlight/internal/reservation/store"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
)

func newMetrics(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metrics",
		Short: "Print the reservation metrics in Prometheus text format and exit",
		Args:  cobra.NoArgs,
		Long: `Print states, holders, queues, history and hand-overs for the textfile collector of a node
exporter. firstlight reservation run serves the same at /metrics; examples/prometheus has
alert rules.

If the store cannot be read, the only metric is firstlight_reservation_store_up 0, also in
the file of --write.

Exit codes: 0 printed; 3 the store cannot be read.`,
		Example: `  firstlight reservation metrics
  firstlight reservation metrics --write /var/lib/node_exporter/textfile/reservations.prom`,
	}
	f := addStoreFlags(cmd)
	path := cmd.Flags().String("write", "", "file to replace atomically, instead of standard output")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, problem := f.open(cmd.Context(), s)
		var from rsvmetrics.CollectorStore = unread{problem}
		if problem == nil {
			from = r.store
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(rsvmetrics.NewCollector(rsvmetrics.CollectorOptions{Store: from}))
		families, err := registry.Gather() // partial on error: store_up is 0
		if problem == nil {
			problem = cmdutil.Unobserved(err)
		}
		return errors.Join(problem, cmdutil.WriteMetrics(s.Out, *path, families))
	}
	return cmd
}

// unread is a store that cannot be read.
type unread struct{ err error }

func (u unread) List(context.Context) ([]*store.Reservation, error) { return nil, u.err }

func (u unread) EachHistory(context.Context, func(string, []lease.Event)) error { return u.err }

func (u unread) ListHandOvers(context.Context, time.Time) ([]*store.HandOver, error) {
	return nil, u.err
}
