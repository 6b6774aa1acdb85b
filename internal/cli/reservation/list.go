package reservation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/config"
)

// reservationList is the -o json form of reservation list.
type reservationList struct {
	Reservations []config.Reservation `json:"reservations"`
	Shares       []config.Share       `json:"shares,omitempty"`
}

func newReservationList(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the reservations of a registry",
		Long: `list reads a registry, holds it against its rules, and prints its rows; with --name
one of them, with --daytime the daytime rotation: [{"reservation": ..., "intent": ...}],
as JSON unless -o says otherwise.

-o github prints lines of key=value for $GITHUB_OUTPUT: with --name the row's slug, cloud,
reservation-id, accelerator, gpu-count, cluster-config-path, test-config-dir,
nightly-intents (with commas between them; empty: none), daytime-intent and node-count;
without it reservations and daytime, each a JSON list for a matrix.

The output is built whole and written at once. When it can't be written the exit code is
3, or 141 where the reader of a pipe has gone.`,
		Example: `  firstlight reservation list --file examples/reservations.yaml
  firstlight reservation list --daytime
  firstlight reservation list --name gcp-h100 -o github >> "$GITHUB_OUTPUT"`,
	}
	file := cmd.Flags().String("file", "reservations.yaml", "the registry; - is standard input")
	name := cmd.Flags().String("name", "", "only this reservation")
	daytime := cmd.Flags().Bool("daytime", false, "only the daytime rotation")
	cmd.MarkFlagsMutuallyExclusive("name", "daytime")
	out := addChoice(cmd, "table", "json", "github")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := reservationFile(s, *file, config.ParseRegistry)
		if err != nil {
			return err
		}
		switch {
		case cmd.Flags().Changed("name"):
			row, err := findReservation(r, *name)
			if err != nil {
				return err
			}
			return writeWhole(s.Out, func(w io.Writer) error { return printReservation(w, out.value, row) })
		case *daytime:
			format := out.value
			if !cmd.Flags().Changed("output") {
				format = "json"
			}
			return writeWhole(s.Out, func(w io.Writer) error { return printDaytime(w, format, r.Daytime()) })
		default:
			return writeWhole(s.Out, func(w io.Writer) error { return printReservations(w, out.value, r) })
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
		return row, usage("there is no reservation %q; did you mean %s?", name, near)
	}
	return row, usage("there is no reservation %q; there are %s", name, strings.Join(r.Names(), ", "))
}

func printReservations(w io.Writer, format string, r *config.Registry) error {
	switch format {
	case "json":
		return writeJSON(w, reservationList{r.Reservations, r.Shares()}, "  ")
	case "github":
		if err := writeKey(w, "reservations", r.Names()); err != nil {
			return err
		}
		return writeKey(w, "daytime", r.Daytime())
	}
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tSLUG\tCLOUD\tACCELERATOR\tGPUS A NODE\tNODES\tNIGHTLY\tDAYTIME\tRESERVATION ID")
	for _, row := range r.Reservations {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", row.Name, row.Slug, row.Cloud, row.Accelerator, row.GPUCount,
			cmp.Or(nodeCount(row), "-"), cmp.Or(nightly(row), "-"), cmp.Or(row.DaytimeIntent, "-"), cmp.Or(row.ReservationID, "-"))
	}
	if err := tw.Flush(); err != nil {
		return err //nolint:wrapcheck // into memory
	}
	fmt.Fprintln(w)
	for _, share := range r.Shares() {
		fmt.Fprintf(w, "%s: %s\n", share.ReservationID, taken(share))
	}
	fmt.Fprintf(w, "%d reservations\n", len(r.Reservations))
	return nil
}

// taken says what rows take of a reservation together, and no more than is stated.
func taken(s config.Share) string {
	rows := strings.Join(s.Reservations, ", ")
	switch {
	case len(s.Unstated) > 0:
		return fmt.Sprintf("shared by %s; how many nodes %s takes is not stated", rows, strings.Join(s.Unstated, ", "))
	case s.Capacity > 0:
		return fmt.Sprintf("%d of its %d nodes are taken when %s are all held", s.Nodes, s.Capacity, rows)
	default:
		return fmt.Sprintf("%d nodes are taken when %s are all held; how many it has is not stated", s.Nodes, rows)
	}
}

func printReservation(w io.Writer, format string, row config.Reservation) error {
	if format == "json" {
		return writeJSON(w, row, "  ")
	}
	lines := [][2]string{
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
	if format == "github" {
		for _, l := range lines {
			fmt.Fprintf(w, "%s=%s\n", l[0], l[1])
		}
		return nil
	}
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "name\t%s\n", row.Name)
	for _, l := range lines {
		fmt.Fprintf(tw, "%s\t%s\n", l[0], cmp.Or(l[1], "-"))
	}
	return tw.Flush() //nolint:wrapcheck // into memory
}

func printDaytime(w io.Writer, format string, daytime []config.Assignment) error {
	switch format {
	case "json":
		return writeJSON(w, daytime, "")
	case "github":
		return writeKey(w, "daytime", daytime)
	}
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "RESERVATION\tINTENT")
	for _, d := range daytime {
		fmt.Fprintf(tw, "%s\t%s\n", d.Reservation, d.Intent)
	}
	return tw.Flush() //nolint:wrapcheck // into memory
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
	return writeJSON(w, v, "")
}

func writeJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	return enc.Encode(v) //nolint:wrapcheck // into memory
}
