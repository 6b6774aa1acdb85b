package reservation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// batchPlan is what a night would run, as -o json shows it.
type batchPlan struct {
	calendar.Occurrence
	// Cutoff is until when a cell may begin.
	Cutoff        time.Time `json:"cutoff"`
	CellLimit     string    `json:"cellLimit"`
	TeardownLimit string    `json:"teardownLimit"`
	// Versions may have fewer releases than Previous, where there are no more.
	Versions  []string      `json:"versions"`
	Previous  int           `json:"previous"`
	Lanes     []plannedLane `json:"lanes"`
	cellLimit time.Duration
}

// plannedLane is a reservation's part of it.
type plannedLane struct {
	matrix.Lane
	// Sure is how many cells begin even where each before them takes its limit.
	Sure int `json:"sure"`
	// Error is why nothing would run there, where that is wrong.
	Error string `json:"error,omitempty"`
}

// batchFlags name the files.
type batchFlags struct{ file, schedule, batch, only, after string }

func newBatchPlan(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print what the next nightly batch would run, until when, and what floors hold back",
		Long: `plan prints the cells of each reservation in the order in which they run, and when each
begins at the latest: if every cell before it took its limit. No cell begins after the
cutoff, which leaves the last of them its whole limit. It asks which releases there are, as
the batch does, and changes nothing.

Exit codes: 0 all of it could run; 1 a lane, or the whole night, could not; 2 a file can't be
used; 3 it could not be seen which releases there are.`,
		Example: `  firstlight reservation batch plan --file examples/reservations.yaml --schedule examples/schedule.yaml --batch examples/batch.yaml
  firstlight reservation batch plan --reservation gcp-h100 -o json`,
		Args: cobra.NoArgs,
	}
	f := &batchFlags{}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "the registry")
	cmd.Flags().StringVar(&f.schedule, "schedule", "schedule.yaml", "the times: when the batch begins, and when its window ends")
	cmd.Flags().StringVar(&f.batch, "batch", "batch.yaml", "what it runs")
	cmd.Flags().StringVar(&f.only, "reservation", "", "only this one")
	cmd.Flags().StringVar(&f.after, "after", "", "the first batch after this time, as 2026-12-24T12:00:00Z; without it, after now")
	out := addChoice(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		plan, err := f.plan(cmd.Context(), s)
		if err != nil {
			return err
		}
		if err := writeWhole(s.Out, func(w io.Writer) error {
			if out.value == "json" {
				return writeJSON(w, plan, "  ")
			}
			return printBatchPlan(w, plan)
		}); err != nil {
			return err
		}
		if wrong := plan.wrong(); wrong != "" {
			return &exitError{code: ExitFailed, err: errors.New(wrong)}
		}
		return nil
	}
	return cmd
}

// wrong says what could not run that should; empty: nothing.
func (p *batchPlan) wrong() string {
	if p.Cutoff.Before(p.At) {
		return fmt.Sprintf("no cell can begin: the window of %s is %s, and a cell may take %s", p.Entry, calendar.FormatDuration(p.Until.Sub(p.At)), p.CellLimit)
	}
	for _, l := range p.Lanes {
		if l.Error != "" {
			return "nothing would run at " + l.Reservation + ": " + l.Error
		}
	}
	return ""
}

func (f *batchFlags) plan(ctx context.Context, s Streams) (*batchPlan, error) {
	after, err := f.from()
	if err != nil {
		return nil, err
	}
	rows, err := f.rows(s)
	if err != nil {
		return nil, err
	}
	schedule, err := reservationFile(s, f.schedule, calendar.Parse)
	if err != nil {
		return nil, err
	}
	next, err := nextBatch(schedule, after)
	if err != nil {
		return nil, usage("%s: %w", f.schedule, err)
	}
	config, err := reservationFile(s, f.batch, matrix.Parse)
	if err != nil {
		return nil, err
	}
	night, err := controller.NewBatchPlan(ctx, config, filepath.Dir(f.batch))
	if err != nil {
		if _, wrong := errors.AsType[diag.List](err); wrong || errors.Is(err, fs.ErrNotExist) {
			return nil, usage("%s: %w", f.batch, err)
		}
		return nil, infrastructure(fmt.Errorf("%s: %w", f.batch, err))
	}
	p := &batchPlan{
		Occurrence: next, Cutoff: night.Cutoff(next.Until), Versions: night.Versions, Previous: config.Previous,
		CellLimit: calendar.FormatDuration(config.CellLimit), TeardownLimit: calendar.FormatDuration(config.Teardown), cellLimit: config.CellLimit,
	}
	for _, row := range rows {
		lane, err := night.Lane(row)
		planned := plannedLane{Lane: lane}
		if err != nil {
			planned.Error = err.Error()
		}
		for i := range lane.Cells {
			if p.latest(i).Before(p.Cutoff) {
				planned.Sure++
			}
		}
		p.Lanes = append(p.Lanes, planned)
	}
	return p, nil
}

// latest is when a cell begins where each before it takes its limit.
func (p *batchPlan) latest(cell int) time.Time { return p.At.Add(time.Duration(cell) * p.cellLimit) }

func (f *batchFlags) from() (time.Time, error) {
	if f.after == "" {
		return time.Now(), nil
	}
	after, err := time.Parse(time.RFC3339, f.after)
	if err != nil {
		return after, usage("--after: %q is no time: write it as 2026-12-24T12:00:00Z", f.after)
	}
	return after, nil
}

func (f *batchFlags) rows(s Streams) ([]config.Reservation, error) {
	reg, err := reservationFile(s, f.file, config.ParseRegistry)
	if err != nil {
		return nil, err
	}
	if f.only == "" {
		return reg.Reservations, nil
	}
	row, ok := reg.Find(f.only)
	if !ok {
		return nil, usage("--reservation %s is not in %s; it has %s", f.only, f.file, strings.Join(reg.Names(), ", "))
	}
	return []config.Reservation{row}, nil
}

// nextBatch is the next occurrence of an entry whose action is batch.
func nextBatch(schedule *calendar.Schedule, after time.Time) (calendar.Occurrence, error) {
	list, err := schedule.Upcoming(after)
	if err != nil {
		return calendar.Occurrence{}, err //nolint:wrapcheck // names the entry
	}
	for _, o := range list {
		if o.Action == calendar.Batch {
			return o, nil
		}
	}
	return calendar.Occurrence{}, errors.New("the schedule has no entry whose action is batch")
}

func printBatchPlan(w io.Writer, p *batchPlan) error {
	fmt.Fprintf(w, "%s begins on %s, and its window ends at %s\n", p.Entry, p.At.UTC().Format("2006-01-02 15:04 MST"), p.Until.UTC().Format("15:04"))
	fmt.Fprintf(w, "no cell begins after %s: one may take %s, %s of it for its teardown\n", p.Cutoff.UTC().Format("15:04"), p.CellLimit, p.TeardownLimit)
	fmt.Fprintf(w, "versions: %s%s\n\n", strings.Join(p.Versions, ", "), p.fewer())
	tw := tabwriter.NewWriter(w, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "RESERVATION\tVERSION\tINTENT\tBEGINS")
	for _, l := range p.Lanes {
		for i, c := range l.Cells {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", l.Reservation, c.Version, c.Intent, p.begins(i, l.Sure))
		}
		for _, h := range l.HeldBack {
			fmt.Fprintf(tw, "%s\t%s\t%s\theld back: %s\n", l.Reservation, h.Version, h.Intent, h.Reason)
		}
		switch {
		case l.Error != "":
			fmt.Fprintf(tw, "%s\t-\t-\tnothing runs: error: %s\n", l.Reservation, strings.ReplaceAll(l.Error, "\n", "; "))
		case l.Reason != "":
			fmt.Fprintf(tw, "%s\t-\t-\tnothing runs: %s\n", l.Reservation, l.Reason)
		}
	}
	return tw.Flush() //nolint:wrapcheck // into memory
}

// fewer says that there are not as many releases as the file asks for.
func (p *batchPlan) fewer() string {
	n := 0
	for _, v := range p.Versions {
		if v != config.MainBranch {
			n++
		}
	}
	if n == p.Previous {
		return ""
	}
	return fmt.Sprintf(" (previous is %d, and there are no more releases)", p.Previous)
}

func (p *batchPlan) begins(cell, sure int) string {
	switch {
	case cell == 0 && sure > 0:
		return "at " + p.At.UTC().Format("15:04")
	case cell < sure:
		return "at the latest at " + p.latest(cell).UTC().Format("15:04")
	default:
		return "if there is time"
	}
}
