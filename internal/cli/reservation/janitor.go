package reservation

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/janitor"
)

func newJanitor(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "janitor",
		Short: "List deployments without a live lease; --enforce removes them",
		Long: `List the deployments of every cloud with a hook, compare them with the leases, and print
for each why it is kept or to be removed. Without --enforce nothing is changed.

A deployment is removed only if it has the label of this owner, is older than
--older-than, and its lease has ended; it is removed under a cleaning lease, after a
second check under that lease. Nothing is removed from a cloud that does not answer.

Exit codes: 0 nothing is left to remove; 1 something is, or could not be removed; 3 a
cloud or the store is unavailable.`,
		Example: `  firstlight reservation janitor --file reservations.yaml --hooks hooks.yaml
  firstlight reservation janitor --older-than 6h --enforce -o json`,
		Args: cobra.NoArgs,
	}
	f := addStoreFlags(cmd)
	file := cmd.Flags().String("file", "reservations.yaml", "registry (-: standard input)")
	hooks := addHooksFlag(cmd)
	enforce := cmd.Flags().Bool("enforce", false, "remove the deployments")
	older := cmd.Flags().Duration("older-than", 24*time.Hour, "minimum age of a deployment to remove")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *older < 0 {
			return cmdutil.UsageErrorf("invalid --older-than %s: must not be negative", *older)
		}
		reg, err := cmdutil.ParseFile(s, *file, config.ParseRegistry)
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
			Registry: reg, Store: r.store, Broker: r.Broker, Hooks: client, Clouds: client.Clouds(),
			Holder: defaultHolder() + "/janitor", OlderThan: *older, Now: time.Now,
		})
		report, err := j.Inspect(cmd.Context())
		if err == nil && *enforce {
			report, err = j.Enforce(cmd.Context(), report)
		}
		if writeErr := out.Write(s.Out, report, func(w io.Writer) { printJanitor(w, report) }); writeErr != nil {
			return writeErr
		}
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		return janitorExit(report)
	}
	return cmd
}

func janitorExit(r janitor.Report) error {
	for _, d := range r.Decisions {
		if d.Deployment == nil {
			return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved} // a cloud was not observed
		}
	}
	if r.Count(janitor.Remove)+r.Count(janitor.Failed)+r.Count(janitor.Blocked) > 0 {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return nil
}

func printJanitor(w io.Writer, r janitor.Report) {
	if len(r.Decisions) == 0 {
		fmt.Fprintln(w, "no deployments found")
		return
	}
	table := display.NewTable(w, "CLOUD", "DEPLOYMENT", "RESERVATION", "VERDICT", "REASON")
	for _, d := range r.Decisions {
		name, reservation := "", ""
		if d.Deployment != nil {
			name, reservation = d.Deployment.Name, d.Deployment.Reservation
		}
		table.Row(d.Cloud, name, reservation, d.Verdict, d.Reason)
	}
	table.Flush()
	if n := r.Count(janitor.Remove); n > 0 && !r.Enforced {
		fmt.Fprintf(w, "nothing was changed; --enforce removes %s\n", cmdutil.Count(n, "deployment"))
	}
}
