package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// scheduleReview is the -o json form of schedule check.
type scheduleReview struct {
	File string `json:"file"`
	// Held says that no margin was broken, and that days and nights do not meet.
	Held bool `json:"held"`
	calendar.Review
}

func newReservationScheduleCheck(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Hold a schedule against its margins for every day of a year; exits 1 when one is broken",
		Long: `check goes through every occurrence of a year, with both changes of every clock, and says
where a margin is broken, where a batch would run while people have the reservations or
while another batch does, and which entries do not occur at all: each with the dates.

A time that the clock jumps over, or shows twice, is a warning: it is known what becomes
of it. --strict makes errors of warnings.

Exit codes: 0 all of it holds; 1 something does not; 2 the file can't be used.`,
		Example: `  firstlight reservation schedule check --file examples/schedule.yaml
  firstlight reservation schedule check --file examples/schedule.yaml --year 2027 -o json`,
	}
	file := addScheduleFlag(cmd)
	year := cmd.Flags().Int("year", 0, "the year; without it, this one")
	strict := cmd.Flags().Bool("strict", false, "warnings are errors")
	out := addChoice(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("year") {
			*year = time.Now().UTC().Year()
		}
		if *year < 2000 || *year > 2100 {
			return usage("--year %d: write one from 2000 to 2100", *year)
		}
		schedule, err := reservationFile(s, *file, calendar.Parse)
		if err != nil {
			return err
		}
		r := scheduleReview{File: *file, Review: schedule.Review(*year)}
		r.Held = r.Count(diag.Error) == 0 && (!*strict || r.Count(diag.Warning) == 0)
		if err := writeWhole(s.Out, func(w io.Writer) error {
			if out.value == "json" {
				return writeJSON(w, r, "  ")
			}
			printScheduleReview(w, r)
			return nil
		}); err != nil {
			return err
		}
		if !r.Held {
			return &exitError{code: ExitFailed}
		}
		return nil
	}
	return cmd
}

func printScheduleReview(w io.Writer, r scheduleReview) {
	for _, p := range r.Problems {
		fmt.Fprintf(w, "%s\n    %s\n", p, p.Remedy)
		if len(p.Dates) > 0 {
			fmt.Fprintf(w, "    dates: %s\n", datesOf(p))
		}
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s: %d occurrences of %d entries in %d, %d margins\n", r.File, r.Occurrences, r.Entries, r.Year, r.Margins)
	for _, c := range r.Changes {
		fmt.Fprintf(w, "  the clock of %s changes on %s, by %s\n", c.Zone, c.At.Format(time.DateOnly), calendar.FormatDuration(c.By.Duration))
	}
	if r.Held {
		fmt.Fprintln(w, "all of it holds, and people and batches do not meet")
		return
	}
	fmt.Fprintf(w, "%d errors, %d warnings\n", r.Count(diag.Error), r.Count(diag.Warning))
}

// datesOf are the first few.
func datesOf(p calendar.Problem) string {
	const most = 6
	var out []string
	for i, d := range p.Dates {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(p.Dates)-i))
			break
		}
		out = append(out, d.String())
	}
	return strings.Join(out, ", ")
}
