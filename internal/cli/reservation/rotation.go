package reservation

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
)

func newRotation(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotation",
		Short: "Provision the daytime deployments and remove them",
		Long: `Each reservation with a daytime-intent in the registry gets one deployment for people,
provisioned by the cloud's hook under a lease. The lease is then open: one person at a
time checks it out (reservation checkout), extends it until the night, and checks it in.
In the evening the holder gets a notice and keeps the deployment until its end; then the
deployment is removed.

An existing deployment blocks the reservation, and is named.`,
		Example: `  # Print what up would do, then provision one reservation
  firstlight reservation rotation up --dry-run
  firstlight reservation rotation up --reservation aws-h100

  # Remove all daytime deployments
  firstlight reservation rotation down

  # Remove every deployment of a reservation, also those without a lease
  firstlight reservation rotation down --reservation aws-h100`,
	}
	cmd.AddCommand(newRotationUp(s), newRotationDown(s))
	return cmd
}

type rotationFlags struct {
	store                *storeFlags
	file, schedule, only string
	hooks                *string
	dry                  bool
	notice               time.Duration
	ready                readyFlags
	// up: deployments are provisioned, and must become ready.
	up  bool
	out *cmdutil.Output
}

func addRotationFlags(cmd *cobra.Command) *rotationFlags {
	f := &rotationFlags{store: addStoreFlags(cmd), hooks: addHooksFlag(cmd), out: cmdutil.AddOutputFlag(cmd)}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "registry")
	cmd.Flags().StringVar(&f.schedule, "schedule", "schedule.yaml", "schedule with the end of the day and the start of the night")
	cmd.Flags().StringVar(&f.only, "reservation", "", "rotate this reservation alone")
	cmd.Flags().DurationVar(&f.notice, "notice", eveningNotice, "time between the notice to the holder and the removal")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "print the actions without executing them")
	return f
}

type rotating struct {
	*controller.Rotation
	rows     []config.Reservation
	schedule *calendar.Schedule
	leases   *reservations
}

func (f *rotationFlags) open(ctx context.Context, s cmdutil.Streams) (*rotating, error) {
	if f.notice < 0 {
		return nil, cmdutil.UsageErrorf("invalid --notice %s: must not be negative", f.notice)
	}
	reg, err := cmdutil.ParseFile(s, f.file, config.ParseRegistry)
	if err != nil {
		return nil, err
	}
	out := &rotating{}
	for _, row := range reg.Reservations {
		if f.only == row.Name || f.only == "" && row.DaytimeIntent != "" {
			out.rows = append(out.rows, row)
		}
	}
	switch {
	case len(out.rows) == 0 && f.only != "":
		return nil, cmdutil.UsageErrorf("reservation %s not found in %s: want one of %v", f.only, f.file, reg.Names())
	case len(out.rows) == 0:
		return nil, cmdutil.UsageErrorf("no reservation of %s has a daytime-intent", f.file)
	}
	if f.up {
		if err := f.ready.check(); err != nil {
			return nil, err
		}
		if err := f.ready.checkRows(daytimeRows(out.rows)...); err != nil {
			return nil, cmdutil.UsageErrorf("%s: %w", f.file, err)
		}
	}
	if out.schedule, err = cmdutil.ParseFile(s, f.schedule, calendar.Parse); err != nil {
		return nil, err
	}
	if out.leases, err = f.store.open(ctx, s); err != nil {
		return nil, err
	}
	client, err := f.store.hooks(s, out.leases, *f.hooks)
	if err != nil {
		return nil, err
	}
	ready, err := f.ready.await(s, client)
	if err != nil {
		return nil, err
	}
	out.Rotation = controller.NewRotation(controller.RotationOptions{Broker: out.leases.Broker, Store: out.leases.store, Hooks: client, Now: out.leases.clock.Now, Ready: ready})
	return out, nil
}

func daytimeRows(rows []config.Reservation) (out []config.Reservation) {
	for _, row := range rows {
		if row.DaytimeIntent != "" {
			out = append(out, row)
		}
	}
	return out
}

// eveningNotice is the default time between the notice and the removal.
const eveningNotice = 30 * time.Minute

func newRotationUp(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Provision the daytime deployments",
		Args:  cobra.NoArgs,
		Long: `Exit codes: 0 all deployments are ready; 1 one could not be provisioned or is blocked; 3
the store is unavailable.`,
		Example: "  firstlight reservation rotation up --dry-run",
	}
	f := addRotationFlags(cmd)
	f.ready.add(cmd)
	f.up = true
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		times, err := controller.DayTimesOf(r.schedule, r.leases.clock.Now(), f.notice)
		if err != nil {
			return cmdutil.UsageErrorf("%s: %w", f.schedule, err)
		}
		return f.each(cmd.Context(), s, r, func(ctx context.Context, row config.Reservation) (controller.Outcome, error) {
			if f.dry {
				return controller.Outcome{Reservation: row.Name, Result: "would provision", Reason: fmt.Sprintf("daytime-intent %s, until %s", cmp.Or(string(row.DaytimeIntent), "-"), times.TermEndsAt.UTC().Format(time.RFC3339))}, nil
			}
			return r.Up(ctx, row, times)
		})
	}
	return cmd
}

func newRotationDown(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Remove the daytime deployments",
		Args:  cobra.NoArgs,
		Long: `The holder of a deployment gets a notice, and keeps the deployment until --notice has
passed, or until the end of an extension: run the command again then. With --reservation
every deployment of the reservation is removed, also those without a lease.

Exit codes: 0 no deployment is left; 1 one is (its holder got a notice, or the removal
failed); 3 the store is unavailable.`,
		Example: "  firstlight reservation rotation down --reservation aws-h100",
	}
	f := addRotationFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		return f.each(cmd.Context(), s, r, func(ctx context.Context, row config.Reservation) (controller.Outcome, error) {
			if f.dry {
				return controller.Outcome{Reservation: row.Name, Result: "would remove", Reason: "after a notice to the holder"}, nil
			}
			return r.Down(ctx, row, defaultHolder(), noticeUntil(ctx, r, row.Name, f.notice), f.only != "")
		})
	}
	return cmd
}

// noticeUntil is the end of the notice; a notice with an earlier end is kept.
func noticeUntil(ctx context.Context, r *rotating, name string, notice time.Duration) time.Time {
	until := r.leases.clock.Now().Add(notice)
	now, err := r.leases.store.Get(ctx, name)
	if err == nil && now.Status.Lease != nil && now.Status.Lease.Notice != nil && now.Status.Lease.Notice.At.Time.Before(until) {
		return now.Status.Lease.Notice.At.Time
	}
	return until
}

// each applies work to every reservation and prints the outcomes.
func (f *rotationFlags) each(ctx context.Context, s cmdutil.Streams, r *rotating, work func(context.Context, config.Reservation) (controller.Outcome, error)) error {
	outcomes := []controller.Outcome{}
	var broken error
	done := true
	for _, row := range r.rows {
		fmt.Fprintf(s.Err, "%s  %s\n", time.Now().UTC().Format("15:04:05"), row.Name)
		o, err := work(ctx, row)
		if err != nil {
			broken = storeError(err)
			if o.Result != "" { // its reason says more
				outcomes = append(outcomes, o)
			}
			break
		}
		done = done && o.Result != controller.ResultFailed && o.Result != controller.ResultBlocked && o.Result != controller.ResultNotified
		outcomes = append(outcomes, o)
	}
	err := f.out.Write(s.Out, outcomes, func(w io.Writer) {
		for _, o := range outcomes {
			fmt.Fprintln(w, o)
		}
	})
	switch {
	case broken != nil:
		return broken
	case err == nil && !done:
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	default:
		return err
	}
}
