package reservation

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
)

// scheduleReview is the -o json form of schedule check.
type scheduleReview struct {
	File string `json:"file"`
	// Valid: no margin is broken, and days and nights do not overlap.
	Valid bool `json:"valid"`
	calendar.Review
}

func newScheduleCheck(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a schedule against its margins for a year; exit 1 if one is broken",
		Long: `Check every occurrence of a year, with all clock changes, and print with dates: broken
margins, batches that overlap with people or with another batch, entries that never occur.

A time that a clock change skips or repeats is a warning. --strict makes warnings errors.

Exit codes: 0 valid; 1 not valid; 2 the file is invalid.`,
		Example: `  firstlight reservation schedule check --file examples/schedule.yaml
  firstlight reservation schedule check --file examples/schedule.yaml --year 2027 -o json`,
	}
	file := addScheduleFlag(cmd)
	year := cmd.Flags().Int("year", 0, "year to check (default: this year)")
	strict := cmd.Flags().Bool("strict", false, "treat warnings as errors")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("year") {
			*year = time.Now().UTC().Year()
		}
		if *year < 2000 || *year > 2100 {
			return cmdutil.UsageErrorf("invalid --year %d: must be from 2000 to 2100", *year)
		}
		schedule, err := cmdutil.ParseFile(s, *file, calendar.Parse)
		if err != nil {
			return err
		}
		r := scheduleReview{File: *file, Review: schedule.Review(*year)}
		r.Valid = r.Count(diag.Error) == 0 && (!*strict || r.Count(diag.Warning) == 0)
		if err := out.Write(s.Out, r, func(w io.Writer) { printScheduleReview(w, r) }); err != nil {
			return err
		}
		if !r.Valid {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
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
	if r.Valid {
		fmt.Fprintln(w, "all margins hold; people and batches do not overlap")
		return
	}
	fmt.Fprintf(w, "%s, %s\n", cmdutil.Count(r.Count(diag.Error), "error"), cmdutil.Count(r.Count(diag.Warning), "warning"))
}

// datesOf formats the first few dates.
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
