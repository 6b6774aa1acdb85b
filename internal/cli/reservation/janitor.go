package reservation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/janitor"
)

// newReservationJanitor finds what belongs to no live lease.
func newReservationJanitor(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "janitor",
		Short: "Find deployments that belong to no live lease; with --enforce, remove them",
		Long: `janitor asks every cloud of the registry what stands there, holds it against the leases,
and says of each deployment why it is kept or is to be removed. Without --enforce it
changes nothing.

Only what carries this owner's label, is older than --older-than and belongs to a lease that
is over is removed, under a cleaning lease of its reservation, after the decision was taken
again under it. Of a cloud that can't be looked at, nothing is removed.

Exit codes: 0 nothing is left to remove, 1 something is (or could not be removed), 3 a cloud or
the store could not be asked.`,
		Example: `  firstlight reservation janitor --file reservations.yaml --hooks hooks.yaml
  firstlight reservation janitor --older-than 6h --enforce -o json`,
		Args: cobra.NoArgs,
	}
	f := addStoreFlags(cmd)
	file := cmd.Flags().String("file", "reservations.yaml", "the registry; - is standard input")
	hooks := addHooksFlag(cmd)
	enforce := cmd.Flags().Bool("enforce", false, "remove what is to be removed")
	older := cmd.Flags().Duration("older-than", 24*time.Hour, "keep what is younger")
	out := addChoice(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *older < 0 {
			return usage("--older-than %s: want no less than 0", *older)
		}
		reg, err := reservationFile(s, *file, config.ParseRegistry)
		if err != nil {
			return err
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		client, err := f.hooks(s, r, *hooks)
		if err != nil {
			return err
		}
		j := janitor.New(janitor.Options{
			Registry: reg, Store: r.store, Broker: r.Broker, Hooks: client,
			Holder: whoIsThis() + "/janitor", OlderThan: *older, Now: time.Now,
		})
		report, err := j.Inspect(cmd.Context())
		if err == nil && *enforce {
			report, err = j.Enforce(cmd.Context(), report)
		}
		if printed := writeWhole(s.Out, func(w io.Writer) error { return printJanitor(w, out.value, report) }); printed != nil {
			return printed
		}
		if err != nil {
			return infrastructure(err)
		}
		return janitorExit(report)
	}
	return cmd
}

// janitorExit is the mute exit of a report.
func janitorExit(r janitor.Report) error {
	for _, d := range r.Decisions {
		if d.Deployment == nil {
			return &exitError{code: ExitUnobserved} // a cloud that was not seen
		}
	}
	if r.Count(janitor.Remove)+r.Count(janitor.Failed)+r.Count(janitor.Blocked) > 0 {
		return &exitError{code: ExitFailed}
	}
	return nil
}

func printJanitor(w io.Writer, format string, r janitor.Report) error {
	if format == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r) //nolint:wrapcheck // the caller says what it was doing
	}
	if len(r.Decisions) == 0 {
		_, err := fmt.Fprintln(w, "nothing stands in any cloud")
		return err //nolint:wrapcheck // the caller says what it was doing
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "CLOUD\tDEPLOYMENT\tRESERVATION\tVERDICT\tWHY")
	for _, d := range r.Decisions {
		name, reservation := "-", "-"
		if d.Deployment != nil {
			name, reservation = d.Deployment.Name, cmp.Or(d.Deployment.Reservation, "-")
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", d.Cloud, name, reservation, d.Verdict, d.Reason)
	}
	if n := r.Count(janitor.Remove); n > 0 && !r.Enforced {
		fmt.Fprintf(tw, "nothing was changed; --enforce removes what is to be removed (%d)\n", n)
	}
	return tw.Flush() //nolint:wrapcheck // the caller says what it was doing
}
