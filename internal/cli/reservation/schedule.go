package reservation

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

func newSchedule(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Print the next occurrence of each entry of a schedule",
		Long: `Print the next occurrence of each entry in order, in UTC and in the time zone of the entry.

If a clock change skips the time of an entry, it occurs at the change; if the time occurs
twice, the first counts. The last column marks both.`,
		Example: `  firstlight reservation schedule --file examples/schedule.yaml
  firstlight reservation schedule --file examples/schedule.yaml --after 2026-12-24T12:00:00Z -o json
  firstlight reservation schedule check --file examples/schedule.yaml`,
	}
	file := addScheduleFlag(cmd)
	from := cmd.Flags().String("after", "", "print occurrences after this time, such as 2026-12-24T12:00:00Z (default: now)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		after := time.Now()
		if *from != "" {
			var err error
			if after, err = time.Parse(time.RFC3339, *from); err != nil {
				return cmdutil.UsageErrorf("invalid --after %q: must be a time such as 2026-12-24T12:00:00Z", *from)
			}
		}
		schedule, err := cmdutil.ParseFile(s, *file, calendar.Parse)
		if err != nil {
			return err
		}
		upcoming, err := schedule.Upcoming(after)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		return out.Write(s.Out, upcoming, func(w io.Writer) { printUpcoming(w, upcoming, after) })
	}
	cmd.AddCommand(newScheduleCheck(s))
	return cmd
}

func addScheduleFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("file", "schedule.yaml", "schedule (-: standard input)")
}

func printUpcoming(w io.Writer, upcoming []calendar.Occurrence, after time.Time) {
	const minutes = "2006-01-02 15:04"
	table := display.NewTable(w, "ENTRY", "ACTION", "STARTS (UTC)", "UNTIL (UTC)", "LOCAL TIME", "IN", "CLOCK CHANGE")
	for _, o := range upcoming {
		clock := map[calendar.ClockChange]string{calendar.Jumped: "skipped", calendar.Twice: "twice"}[o.ClockChange]
		table.Row(o.Entry, o.Action, o.At.UTC().Format(minutes), o.Until.UTC().Format(minutes),
			o.At.Format("Mon "+minutes+" MST"), calendar.FormatDuration(o.At.Sub(after).Round(time.Minute)), clock)
	}
	table.Flush()
}
