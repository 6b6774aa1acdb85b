package reservation

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
)

func newReservationRotation(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rotation",
		Short: "Stand up what people have by day, and take it down",
		Long: `By the registry, each reservation with a daytime-intent gets one deployment for people,
stood up by its cloud's hook under a lease. The lease is open then: people take it
(reservation take), extend it as far as the night allows, and hand it back. In the
evening who has it is given notice, and keeps it until then; then it is taken down.

Before something is stood up, nothing may stand: what does blocks, and is named.`,
		Example: `  firstlight reservation rotation up --dry-run
  firstlight reservation rotation up --reservation aws-h100
  firstlight reservation rotation down
  firstlight reservation rotation down --reservation aws-h100   # by hand, also what nobody knows of`,
	}
	cmd.AddCommand(newRotationUp(s), newRotationDown(s))
	return cmd
}

// rotationFlags are what both ways need.
type rotationFlags struct {
	store                *storeFlags
	file, schedule, only string
	hooks                *string
	dry                  bool
	ready                readyFlags
	out                  *format
}

func addRotationFlags(cmd *cobra.Command) *rotationFlags {
	f := &rotationFlags{store: addStoreFlags(cmd), hooks: addHooksFlag(cmd), out: addOutputFlag(cmd)}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "the registry")
	cmd.Flags().StringVar(&f.schedule, "schedule", "schedule.yaml", "the times: when the day ends, and when the night needs the capacity")
	cmd.Flags().StringVar(&f.only, "reservation", "", "only this one")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "say what would be done")
	return f
}

// rotating is what a rotation works with.
type rotating struct {
	*controller.Rotation
	rows     []config.Reservation
	schedule *calendar.Schedule
	leases   *reservations
}

func (f *rotationFlags) open(ctx context.Context, s Streams) (*rotating, error) {
	reg, err := reservationFile(s, f.file, config.ParseRegistry)
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
		return nil, usage("--reservation %s is not in %s; it has %v", f.only, f.file, reg.Names())
	case len(out.rows) == 0:
		return nil, usage("no reservation of %s has a daytime-intent: there is nothing to rotate", f.file)
	}
	if out.schedule, err = reservationFile(s, f.schedule, calendar.Parse); err != nil {
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

// eveningNotice is how long who has it in the evening keeps it.
const eveningNotice = 30 * time.Minute

func newRotationUp(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "up", Short: "Stand up what people have by day", Args: cobra.NoArgs,
		Long: `Exit codes: 0 everything stands, 1 something could not be stood up or is blocked, 3 the
store could not be asked.`,
	}
	f := addRotationFlags(cmd)
	notice := cmd.Flags().Duration("notice", eveningNotice, "how long a holder keeps it in the evening")
	f.ready.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		times, err := controller.DayTimesOf(r.schedule, r.leases.clock.Now(), *notice)
		if err != nil {
			return usage("%s: %w", f.schedule, err)
		}
		return f.each(cmd.Context(), s, r, func(ctx context.Context, row config.Reservation) (controller.Outcome, error) {
			if f.dry {
				return controller.Outcome{Reservation: row.Name, Result: "would stand up", Reason: fmt.Sprintf("daytime-intent %s, until %s", orDash(string(row.DaytimeIntent)), times.TermEndsAt.UTC().Format(time.RFC3339))}, nil
			}
			return r.Up(ctx, row, times.TermEndsAt, times.MaxEndsAt)
		})
	}
	return cmd
}

func newRotationDown(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "down", Short: "Take down what people have had", Args: cobra.NoArgs,
		Long: `Who has taken a deployment is given notice, and keeps it until --notice is over, or the
end that was given when it was extended: run it again then. With --reservation, what stands
there is taken down also where no lease says whose it is.

Exit codes: 0 nothing stands any more, 1 something still does (its holder was asked, or it
could not be taken down), 3 the store could not be asked.`,
	}
	f := addRotationFlags(cmd)
	notice := cmd.Flags().Duration("notice", eveningNotice, "how long its holder keeps it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *notice < 0 {
			return usage("--notice %s: want no less than 0", *notice)
		}
		r, err := f.open(cmd.Context(), s)
		if err != nil {
			return err
		}
		return f.each(cmd.Context(), s, r, func(ctx context.Context, row config.Reservation) (controller.Outcome, error) {
			if f.dry {
				return controller.Outcome{Reservation: row.Name, Result: "would take down", Reason: "what stands there, when its holder had notice"}, nil
			}
			return r.Down(ctx, row, whoIsThis(), noticeUntil(ctx, r, row.Name, *notice), f.only != "")
		})
	}
	return cmd
}

// noticeUntil is the end of the notice: one that was given stays.
func noticeUntil(ctx context.Context, r *rotating, name string, notice time.Duration) time.Time {
	now, err := r.leases.store.Get(ctx, name)
	if err == nil && now.Status.Lease != nil && now.Status.Lease.Notice != nil {
		return now.Status.Lease.Notice.At.Time
	}
	return r.leases.clock.Now().Add(notice)
}

// each does a piece of work for every reservation, and prints what came of it.
func (f *rotationFlags) each(ctx context.Context, s Streams, r *rotating, work func(context.Context, config.Reservation) (controller.Outcome, error)) error {
	outcomes := []controller.Outcome{}
	var broken error
	done := true
	for _, row := range r.rows {
		fmt.Fprintf(s.Err, "%s  %s\n", time.Now().UTC().Format("15:04:05"), row.Name)
		o, err := work(ctx, row)
		if err != nil {
			broken = explainStore(err)
			break
		}
		done = done && o.Result != controller.ResultFailed && o.Result != controller.ResultBlocked && o.Result != controller.ResultNotified
		outcomes = append(outcomes, o)
	}
	err := f.out.write(s.Out, outcomes, func(w io.Writer) error {
		for _, o := range outcomes {
			if _, err := fmt.Fprintln(w, o); err != nil {
				return err //nolint:wrapcheck // the caller says what it was doing
			}
		}
		return nil
	})
	switch {
	case broken != nil:
		return broken
	case err == nil && !done:
		return &exitError{code: ExitFailed}
	default:
		return err
	}
}
