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

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/e2e/simulation"
	"github.com/firstlight/firstlight/internal/lab"
)

func newSimulate(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "simulate",
		Hidden: true,
		Short:  "Simulate a week of reservations on this machine",
		Args:   cobra.NoArgs,
		Long: `Simulate mornings, evenings and nights with a separate store, controllers, and a clock that
jumps to the next event: holders check out, extend, check in and forget; requests queue; a
missed teardown blocks the batch; the controller is killed, or hangs while another takes
over; the cloud fails. Each cluster is a lab.

Each day's expected result is declared first and compared with what happened. At the end
the whole history is checked for overlapping leases. --dir keeps the log of each
controller, the results, the metrics and the history.

A week takes about a quarter of an hour on two cores.

Exit codes: 0 everything as expected; 1 a difference; 3 the simulation did not finish.`,
		Example: `  firstlight reservation simulate
  firstlight reservation simulate --scene crash,missed-teardown --dir /tmp/simulation`,
	}
	days := cmd.Flags().Int("days", 0, "number of days, with one scene each (default: the number of scenes)")
	scenes := cmd.Flags().StringSlice("scene", nil, "play these scenes alone: "+strings.Join(simulation.Scenes(), ", "))
	dirFlag := cmd.Flags().String("dir", "", "empty directory for the files (default: a new one in firstlight's home)")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *days < 0 {
			return cmdutil.UsageErrorf("invalid --days %d: must not be negative", *days)
		}
		for _, name := range *scenes {
			if !slices.Contains(simulation.Scenes(), name) {
				return cmdutil.UsageErrorf("unknown --scene %q: want one of %s", name, strings.Join(simulation.Scenes(), ", "))
			}
		}
		dir, err := simulationDir(*dirFlag)
		if err != nil {
			return err
		}
		self, err := os.Executable()
		if err != nil {
			return cmdutil.Unobserved(fmt.Errorf("find this program: %w", err))
		}
		report, err := simulation.Run(cmd.Context(), simulation.Options{Dir: dir, Days: *days, Scenes: *scenes, Command: []string{self}, Log: s.Err})
		if err != nil {
			return cmdutil.Unobserved(fmt.Errorf("%w; its files are in %s", err, dir))
		}
		results, err := os.ReadFile(filepath.Join(report.Dir, "grid.txt"))
		if err != nil {
			return fmt.Errorf("cannot read the results: %w", err)
		}
		if err := out.Write(s.Out, report, func(w io.Writer) { printSimulation(w, report, results) }); err != nil {
			return err
		}
		if !report.Passed {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return nil
	}
	return cmd
}

// simulationDir creates the directory. An existing one must be empty.
func simulationDir(dir string) (string, error) {
	if dir == "" {
		home, err := lab.Home()
		if err != nil {
			return "", cmdutil.Unobserved(err)
		}
		dir = filepath.Join(home, "simulations", time.Now().UTC().Format("20060102-150405"))
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", cmdutil.Unobserved(fmt.Errorf("simulate: %w", err))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", cmdutil.Unobserved(fmt.Errorf("simulate: %w", err))
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", cmdutil.Unobserved(fmt.Errorf("simulate: %w", err))
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); !errors.Is(err, io.EOF) {
		return "", cmdutil.UsageErrorf("invalid --dir %s: must be empty", dir)
	}
	return dir, nil
}

func printSimulation(w io.Writer, r *simulation.Report, results []byte) {
	for i, d := range r.Days {
		fmt.Fprintf(w, "%s  %-6s  %s\n", d.Begins.Format("Mon 2 Jan"), passedOr(len(d.Findings) == 0, "FAILED"), d.Title)
		for _, f := range r.Days[i].Findings {
			fmt.Fprintf(w, "                   %s: %s\n", f.Subject, f.Reason)
		}
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "FAILED  %s: %s\n", f.Subject, f.Reason)
	}
	var cells []string
	for _, outcome := range []string{"passed", "failed", "timed-out", "blocked", "not-started", "interrupted", "superseded"} {
		if n := r.Cells[outcome]; n > 0 {
			cells = append(cells, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	fmt.Fprintf(w, "\n%s\n%s: %d days in %.0f s, %d hand-overs, %d leases with those for cleaning\n", results, passedOr(r.Passed, "failed"), len(r.Days), r.TookSeconds, r.HandOvers, r.Leases)
	fmt.Fprintf(w, "cells: %s\nfiles: %s\n", strings.Join(cells, ", "), r.Dir)
}

func passedOr(ok bool, otherwise string) string {
	if ok {
		return "passed"
	}
	return otherwise
}
