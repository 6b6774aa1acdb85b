package reservation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/spf13/cobra"

	rsvmetrics "github.com/firstlight/firstlight/internal/reservation/report"
)

func newReservationMetrics(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "metrics", Short: "Print what Prometheus is told of reservations, once", Args: cobra.NoArgs,
		Long: `Prints states, holders, queues, history and hand-overs in Prometheus' text format, for the
textfile collector of a node exporter. firstlight reservation run serves the same at
/metrics; examples/prometheus has rules for alerts.

When the store can't be read, firstlight_reservation_store_up is 0 and nothing else is
told: with --write the file says so, too, and has no old figures.

Exit codes: 0 told, 3 the store could not be read.`,
		Example: `  firstlight reservation metrics
  firstlight reservation metrics --write /var/lib/node_exporter/textfile/reservations.prom`,
	}
	f := addStoreFlags(cmd)
	path := cmd.Flags().String("write", "", "write this file, at once, and print nothing")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, problem := f.open(cmd.Context(), s)
		var from rsvmetrics.CollectorStore = unread{problem}
		if problem == nil {
			from = r.store
		}
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(rsvmetrics.NewCollector(rsvmetrics.CollectorOptions{Store: from}))
		families, err := registry.Gather() // it tells that it could not read, beside the error
		if problem == nil {
			problem = infrastructure(err)
		}
		return errors.Join(problem, writeMetrics(s.Out, *path, families))
	}
	return cmd
}

func writeMetrics(out io.Writer, path string, families []*dto.MetricFamily) error {
	build := func(w io.Writer) error {
		enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
		for _, family := range families {
			if err := enc.Encode(family); err != nil {
				return err //nolint:wrapcheck // the caller says what it was doing
			}
		}
		return nil
	}
	if path == "" {
		return writeWhole(out, build)
	}
	var b bytes.Buffer
	if err := build(&b); err != nil {
		return infrastructure(fmt.Errorf("build metrics: %w", err))
	}
	return infrastructure(replaceFile(path, b.Bytes(), 0o644))
}

// replaceFile writes a file beside the one that is there, and puts it in its place: who
// reads it sees the old one or the new one.
func replaceFile(path string, data []byte, mode os.FileMode) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone after the rename
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
