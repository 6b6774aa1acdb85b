package reservation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/reservation/calendar"
	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/controller"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

// batchPlan is the -o json form of batch plan.
type batchPlan struct {
	calendar.Occurrence
	// Cutoff is the latest start of a cell.
	Cutoff        time.Time `json:"cutoff"`
	CellLimit     string    `json:"cellLimit"`
	TeardownLimit string    `json:"teardownLimit"`
	// Versions has fewer releases than Previous if there are no more.
	Versions  []string      `json:"versions"`
	Previous  int           `json:"previous"`
	Lanes     []plannedLane `json:"lanes"`
	cellLimit time.Duration
}

// plannedLane is the part of one reservation.
type plannedLane struct {
	matrix.Lane
	// Sure counts the cells that begin even if every earlier cell takes its limit.
	Sure int `json:"sure"`
	// Error is set if the lane is invalid: nothing runs.
	Error string `json:"error,omitempty"`
}

type batchFlags struct{ file, schedule, batch, only, after string }

func newBatchPlan(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Print the cells of the next nightly batch, their times, and those below a floor",
		Long: `Print the cells of each reservation in order with the latest start of each: if every
earlier cell takes its limit. No cell begins after the cutoff, which leaves the last cell
its whole limit. The releases are queried as in the batch; nothing is changed.

Exit codes: 0 everything can run; 1 a lane, or the whole night, cannot; 2 a file is
invalid; 3 the releases are unknown.`,
		Example: `  firstlight reservation batch plan --file examples/reservations.yaml --schedule examples/schedule.yaml --batch examples/batch.yaml
  firstlight reservation batch plan --reservation gcp-h100 -o json`,
		Args: cobra.NoArgs,
	}
	f := &batchFlags{}
	cmd.Flags().StringVar(&f.file, "file", "reservations.yaml", "registry")
	cmd.Flags().StringVar(&f.schedule, "schedule", "schedule.yaml", "schedule with the window of the batch")
	cmd.Flags().StringVar(&f.batch, "batch", "batch.yaml", "configuration of the batch")
	cmd.Flags().StringVar(&f.only, "reservation", "", "plan this reservation alone")
	cmd.Flags().StringVar(&f.after, "after", "", "plan the first batch after this time, such as 2026-12-24T12:00:00Z (default: now)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		plan, err := f.plan(cmd.Context(), s)
		if err != nil {
			return err
		}
		if err := out.Write(s.Out, plan, func(w io.Writer) { printBatchPlan(w, plan) }); err != nil {
			return err
		}
		if problem := plan.problem(); problem != "" {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: errors.New(problem)}
		}
		return nil
	}
	return cmd
}

// problem is the reason why a part of the batch cannot run; empty if all can.
func (p *batchPlan) problem() string {
	if p.Cutoff.Before(p.At) {
		return fmt.Sprintf("no cell can begin: the window of %s is %s, the limit of a cell %s", p.Entry, calendar.FormatDuration(p.Until.Sub(p.At)), p.CellLimit)
	}
	for _, l := range p.Lanes {
		if l.Error != "" {
			return "nothing runs at " + l.Reservation + ": " + l.Error
		}
	}
	return ""
}

func (f *batchFlags) plan(ctx context.Context, s cmdutil.Streams) (*batchPlan, error) {
	after, err := f.from()
	if err != nil {
		return nil, err
	}
	rows, err := f.rows(s)
	if err != nil {
		return nil, err
	}
	schedule, err := cmdutil.ParseFile(s, f.schedule, calendar.Parse)
	if err != nil {
		return nil, err
	}
	next, err := nextBatch(schedule, after)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%s: %w", f.schedule, err)
	}
	config, err := cmdutil.ParseFile(s, f.batch, matrix.Parse)
	if err != nil {
		return nil, err
	}
	night, err := controller.NewBatchPlan(ctx, config, filepath.Dir(f.batch))
	if err != nil {
		if _, invalid := errors.AsType[diag.List](err); invalid || errors.Is(err, fs.ErrNotExist) {
			return nil, cmdutil.UsageErrorf("%s: %w", f.batch, err)
		}
		return nil, cmdutil.Unobserved(fmt.Errorf("%s: %w", f.batch, err))
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

// latest is the start of a cell if every earlier cell takes its limit.
func (p *batchPlan) latest(cell int) time.Time { return p.At.Add(time.Duration(cell) * p.cellLimit) }

func (f *batchFlags) from() (time.Time, error) {
	if f.after == "" {
		return time.Now(), nil
	}
	after, err := time.Parse(time.RFC3339, f.after)
	if err != nil {
		return after, cmdutil.UsageErrorf("invalid --after %q: must be a time such as 2026-12-24T12:00:00Z", f.after)
	}
	return after, nil
}

func (f *batchFlags) rows(s cmdutil.Streams) ([]config.Reservation, error) {
	reg, err := cmdutil.ParseFile(s, f.file, config.ParseRegistry)
	if err != nil {
		return nil, err
	}
	if f.only == "" {
		return reg.Reservations, nil
	}
	row, ok := reg.Find(f.only)
	if !ok {
		return nil, cmdutil.UsageErrorf("reservation %s not found in %s: want one of %s", f.only, f.file, strings.Join(reg.Names(), ", "))
	}
	return []config.Reservation{row}, nil
}

// nextBatch is the next occurrence of an entry with the action batch.
func nextBatch(schedule *calendar.Schedule, after time.Time) (calendar.Occurrence, error) {
	list, err := schedule.Upcoming(after)
	if err != nil {
		return calendar.Occurrence{}, err
	}
	for _, o := range list {
		if o.Action == calendar.Batch {
			return o, nil
		}
	}
	return calendar.Occurrence{}, errors.New("the schedule has no entry with the action batch")
}

func printBatchPlan(w io.Writer, p *batchPlan) {
	fmt.Fprintf(w, "%s begins on %s and ends at %s\n", p.Entry, p.At.UTC().Format("2006-01-02 15:04 MST"), p.Until.UTC().Format("15:04"))
	fmt.Fprintf(w, "no cell begins after %s: the limit of a cell is %s, of which %s for its teardown\n", p.Cutoff.UTC().Format("15:04"), p.CellLimit, p.TeardownLimit)
	fmt.Fprintf(w, "versions: %s%s\n\n", strings.Join(p.Versions, ", "), p.fewer())
	table := display.NewTable(w, "RESERVATION", "VERSION", "INTENT", "BEGINS")
	for _, l := range p.Lanes {
		for i, c := range l.Cells {
			table.Row(l.Reservation, c.Version, c.Intent, p.begins(i, l.Sure))
		}
		for _, h := range l.HeldBack {
			table.Row(l.Reservation, h.Version, h.Intent, "below the floor: "+h.Reason)
		}
		switch {
		case l.Error != "":
			table.Row(l.Reservation, "", "", "nothing runs: error: "+strings.ReplaceAll(l.Error, "\n", "; "))
		case l.Reason != "":
			table.Row(l.Reservation, "", "", "nothing runs: "+l.Reason)
		}
	}
	table.Flush()
}

// fewer is a note about fewer releases than the file asks for.
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
	return fmt.Sprintf(" (previous is %d, but there are no more releases)", p.Previous)
}

func (p *batchPlan) begins(cell, sure int) string {
	switch {
	case cell == 0 && sure > 0:
		return "at " + p.At.UTC().Format("15:04")
	case cell < sure:
		return "at the latest " + p.latest(cell).UTC().Format("15:04")
	default:
		return "if time remains"
	}
}
