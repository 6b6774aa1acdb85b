package reservation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// reservationList is the -o json form of reservation list.
type reservationList struct {
	Reservations []config.Reservation `json:"reservations"`
	Shares       []config.Share       `json:"shares,omitempty"`
}

func newList(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the reservations of a registry file",
		Long: `Validate a registry and print its rows; with --name one of them, with --daytime the daytime
rotation: [{"reservation": ..., "intent": ...}], by default as JSON.

-o github prints lines of key=value for $GITHUB_OUTPUT: with --name the row's slug, cloud,
reservation-id, accelerator, gpu-count, cluster-config-path, test-config-dir,
nightly-intents (comma-separated; empty: none), daytime-intent and node-count; else
reservations and daytime, each a JSON list for a matrix.

The output is written as a whole. A write error exits with 3, a closed pipe with 141.`,
		Example: `  firstlight reservation list --file examples/reservations.yaml
  firstlight reservation list --daytime
  firstlight reservation list --name gcp-h100 -o github >> "$GITHUB_OUTPUT"`,
	}
	file := cmd.Flags().String("file", "reservations.yaml", "registry (-: standard input)")
	name := cmd.Flags().String("name", "", "print this reservation alone")
	daytime := cmd.Flags().Bool("daytime", false, "print the daytime rotation alone")
	cmd.MarkFlagsMutuallyExclusive("name", "daytime")
	out := cmdutil.AddOutputFlag(cmd, "github")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := cmdutil.ParseFile(s, *file, config.ParseRegistry)
		if err != nil {
			return err
		}
		switch {
		case cmd.Flags().Changed("name"):
			row, err := findReservation(r, *name)
			if err != nil {
				return err
			}
			if out.String() == "github" {
				return cmdutil.WriteWhole(s.Out, func(w io.Writer) error { return writeRow(w, row) })
			}
			return out.Write(s.Out, row, func(w io.Writer) { printReservation(w, row) })
		case *daytime:
			days := r.Daytime()
			switch format := out.String(); {
			case format == "github":
				return cmdutil.WriteWhole(s.Out, func(w io.Writer) error { return writeKey(w, "daytime", days) })
			case format == "json" || !cmd.Flags().Changed("output"):
				return cmdutil.WriteWhole(s.Out, func(w io.Writer) error { return writeCompactJSON(w, days) })
			}
			return out.Write(s.Out, days, func(w io.Writer) {
				table := display.NewTable(w, "RESERVATION", "INTENT")
				for _, d := range days {
					table.Row(d.Reservation, d.Intent)
				}
				table.Flush()
			})
		default:
			if out.String() == "github" {
				return cmdutil.WriteWhole(s.Out, func(w io.Writer) error {
					return errors.Join(writeKey(w, "reservations", r.Names()), writeKey(w, "daytime", r.Daytime()))
				})
			}
			return out.Write(s.Out, reservationList{r.Reservations, r.Shares()}, func(w io.Writer) { printReservations(w, r) })
		}
	}
	return cmd
}

func findReservation(r *config.Registry, name string) (config.Reservation, error) {
	row, ok := r.Find(name)
	if ok {
		return row, nil
	}
	if near := diag.Nearest(name, r.Names()); near != "" {
		return row, cmdutil.UsageErrorf("reservation %q not found: did you mean %s?", name, near)
	}
	return row, cmdutil.UsageErrorf("reservation %q not found: want one of %s", name, strings.Join(r.Names(), ", "))
}

func printReservations(w io.Writer, r *config.Registry) {
	table := display.NewTable(w, "NAME", "SLUG", "CLOUD", "ACCELERATOR", "GPUS A NODE", "NODES", "NIGHTLY", "DAYTIME", "RESERVATION ID")
	for _, row := range r.Reservations {
		table.Row(row.Name, row.Slug, row.Cloud, row.Accelerator, row.GPUCount, nodeCount(row), nightly(row), row.DaytimeIntent, row.ReservationID)
	}
	table.Flush()
	fmt.Fprintln(w)
	for _, share := range r.Shares() {
		fmt.Fprintf(w, "%s: %s\n", share.ReservationID, taken(share))
	}
	fmt.Fprintln(w, cmdutil.Count(len(r.Reservations), "reservation"))
}

// taken describes how rows share a reservation.
func taken(s config.Share) string {
	rows := strings.Join(s.Reservations, ", ")
	switch {
	case len(s.Unstated) > 0:
		return fmt.Sprintf("shared by %s; the node count of %s is not stated", rows, strings.Join(s.Unstated, ", "))
	case s.Capacity > 0:
		return fmt.Sprintf("%d of its %d nodes are in use if %s are all held", s.Nodes, s.Capacity, rows)
	default:
		return fmt.Sprintf("%d nodes are in use if %s are all held; its capacity is not stated", s.Nodes, rows)
	}
}

// columns are the keys and values of a row.
func columns(row config.Reservation) [][2]string {
	return [][2]string{
		{"slug", row.Slug},
		{"cloud", string(row.Cloud)},
		{"reservation-id", row.ReservationID},
		{"accelerator", row.Accelerator},
		{"gpu-count", strconv.Itoa(row.GPUCount)},
		{"cluster-config-path", row.ClusterConfigPath},
		{"test-config-dir", row.TestConfigDir},
		{"nightly-intents", nightly(row)},
		{"daytime-intent", string(row.DaytimeIntent)},
		{"node-count", nodeCount(row)},
	}
}

func writeRow(w io.Writer, row config.Reservation) error {
	for _, c := range columns(row) {
		fmt.Fprintf(w, "%s=%s\n", c[0], c[1])
	}
	return nil
}

func printReservation(w io.Writer, row config.Reservation) {
	table := display.NewTable(w)
	table.Row("name", row.Name)
	for _, c := range columns(row) {
		table.Row(c[0], c[1])
	}
	table.Flush()
}

func nightly(row config.Reservation) string {
	var out []string
	for _, intent := range row.Nightly() {
		out = append(out, string(intent))
	}
	return strings.Join(out, ",")
}

func nodeCount(row config.Reservation) string {
	if row.NodeCount == 0 {
		return ""
	}
	return strconv.Itoa(row.NodeCount)
}

// writeKey writes a line of key=JSON.
func writeKey(w io.Writer, key string, v any) error {
	fmt.Fprintf(w, "%s=", key)
	return writeCompactJSON(w, v)
}

func writeCompactJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
