package reservation

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

func newReservationSchedule(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Print when each entry of a schedule occurs next",
		Long: `schedule reads a schedule and prints the next occurrence of each entry, in the order of
time, by UTC and by the clock of the entry's zone.

Where the clock jumps over an entry's time, it occurs when the clock has jumped; where the
clock shows it twice, it occurs the first time. The last column says so.`,
		Example: `  firstlight reservation schedule --file examples/schedule.yaml
  firstlight reservation schedule --file examples/schedule.yaml --after 2026-12-24T12:00:00Z -o json
  firstlight reservation schedule check --file examples/schedule.yaml`,
	}
	file := addScheduleFlag(cmd)
	from := cmd.Flags().String("after", "", "print what occurs after this time, as 2026-12-24T12:00:00Z; without it, after now")
	out := addChoice(cmd, "table", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		after := time.Now()
		if *from != "" {
			var err error
			if after, err = time.Parse(time.RFC3339, *from); err != nil {
				return usage("--after: %q is no time: write it as 2026-12-24T12:00:00Z", *from)
			}
		}
		schedule, err := reservationFile(s, *file, calendar.Parse)
		if err != nil {
			return err
		}
		upcoming, err := schedule.Upcoming(after)
		if err != nil {
			return usage("%w", err)
		}
		return writeWhole(s.Out, func(w io.Writer) error {
			if out.value == "json" {
				return writeJSON(w, upcoming, "  ")
			}
			return printUpcoming(w, upcoming, after)
		})
	}
	cmd.AddCommand(newReservationScheduleCheck(s))
	return cmd
}

func addScheduleFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("file", "schedule.yaml", "the schedule; - is standard input")
}

func printUpcoming(w io.Writer, upcoming []calendar.Occurrence, after time.Time) error {
	const minutes = "2006-01-02 15:04"
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "ENTRY\tACTION\tSTARTS (UTC)\tUNTIL (UTC)\tBY ITS CLOCK\tIN\tCLOCK")
	for _, o := range upcoming {
		clock := map[calendar.ClockChange]string{calendar.Jumped: "jumps over it", calendar.Twice: "shows it twice"}[o.ClockChange]
		if clock == "" {
			clock = "-"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.Entry, o.Action, o.At.UTC().Format(minutes), o.Until.UTC().Format(minutes),
			o.At.Format("Mon "+minutes+" MST"), calendar.FormatDuration(o.At.Sub(after).Round(time.Minute)), clock)
	}
	return tw.Flush() //nolint:wrapcheck // into memory
}
