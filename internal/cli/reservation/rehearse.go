package reservation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/e2e/simulation"
	"github.com/firstlight/firstlight/internal/lab"
)

func newReservationRehearse(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rehearse", Short: "Play a week of a reservation's life on this machine", Args: cobra.NoArgs,
		Long: `Plays mornings, evenings and nights with a store and controllers of their own, in which the
clock jumps between the things that are due: people take, extend, hand back and forget; many
queue; a teardown is missed and blocks the batch until somebody takes it down; the controller
is killed, and stands still while another takes over; the cloud fails. Each cluster is a lab,
really started and ended.

What is to come of each day is written down beforehand, and held against what did; at the end
the whole history is read for two who had a reservation at once. The log of each controller,
the grid, the metrics and the history are kept in --dir.

A week takes about a quarter of an hour on two cores.

Exit codes: 0 all went as written, 1 something did not, 3 it could not be played.`,
		Example: `  firstlight reservation rehearse
  firstlight reservation rehearse --scene crash,missed-teardown --dir /tmp/rehearsal`,
	}
	days := cmd.Flags().Int("days", 0, "days, one scene each (without: one for each scene)")
	scenes := cmd.Flags().StringSlice("scene", nil, "only these scenes: "+strings.Join(simulation.Scenes(), ", "))
	dir := cmd.Flags().String("dir", "", "a directory of its own (without: a new one below firstlight's)")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *days < 0 {
			return usage("--days %d: want at least 1", *days)
		}
		for _, name := range *scenes {
			if !slices.Contains(simulation.Scenes(), name) {
				return usage("--scene %q is none; there are %s", name, strings.Join(simulation.Scenes(), ", "))
			}
		}
		place, err := rehearsalDir(*dir)
		if err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return infrastructure(fmt.Errorf("find this program: %w", err))
		}
		report, err := simulation.Run(cmd.Context(), simulation.Options{Dir: place, Days: *days, Scenes: *scenes, Command: []string{self}, Log: s.Err})
		if err != nil {
			return infrastructure(fmt.Errorf("%w; its files are in %s", err, place))
		}
		if err := out.write(s.Out, report, func(w io.Writer) error { return rehearsalText(w, report) }); err != nil {
			return err
		}
		if !report.Passed {
			return &exitError{code: ExitFailed}
		}
		return nil
	}
	return cmd
}

// rehearsalDir makes the directory; one that has anything in it is not taken.
func rehearsalDir(dir string) (string, error) {
	if dir == "" {
		home, err := lab.Home()
		if err != nil {
			return "", infrastructure(err)
		}
		dir = filepath.Join(home, "rehearsals", time.Now().UTC().Format("20060102-150405"))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", infrastructure(fmt.Errorf("rehearse: %w", err))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", infrastructure(fmt.Errorf("rehearse: %w", err))
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", infrastructure(fmt.Errorf("rehearse: %w", err))
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); !errors.Is(err, io.EOF) {
		return "", usage("--dir %s is not empty: a rehearsal has a directory of its own", dir)
	}
	return dir, nil
}

func rehearsalText(w io.Writer, r *simulation.Report) error {
	var b strings.Builder
	for i, d := range r.Days {
		fmt.Fprintf(&b, "%s  %-6s  %s\n", d.Begins.Format("Mon 2 Jan"), passedOr(len(d.Findings) == 0, "FAILED"), d.Title)
		for _, f := range r.Days[i].Findings {
			fmt.Fprintf(&b, "                   %s: %s\n", f.Subject, f.Reason)
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "FAILED  %s: %s\n", f.Subject, f.Reason)
	}
	grid, err := os.ReadFile(filepath.Join(r.Dir, "grid.txt"))
	if err != nil {
		return fmt.Errorf("show the grid: %w", err)
	}
	var cells []string
	for _, outcome := range []string{"passed", "failed", "timed-out", "blocked", "not-started", "interrupted", "superseded"} {
		if n := r.Cells[outcome]; n > 0 {
			cells = append(cells, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	fmt.Fprintf(&b, "\n%s\n%s: %d days in %.1f s, %d hand-overs, cells: %s; %d leases, cleaners' too\nlogs, grid, metrics and history: %s\n",
		grid, passedOr(r.Passed, "failed"), len(r.Days), r.TookSeconds, r.HandOvers, strings.Join(cells, ", "), r.Leases, r.Dir)
	_, err = io.WriteString(w, b.String())
	return err //nolint:wrapcheck // the caller says what it was doing
}

func passedOr(ok bool, otherwise string) string {
	if ok {
		return "passed"
	}
	return otherwise
}
