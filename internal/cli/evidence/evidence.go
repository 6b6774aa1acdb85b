// Package evidence has the command evidence.
package evidence

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
)

// New is the command evidence.
func New(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Show, replay, sign, verify and transfer the evidence of a run",
		Example: `  # Show the verdicts and findings of a run
  firstlight evidence show evidence/20261121-014233-7f3a

  # Judge the stored observations again
  firstlight evidence replay evidence/20261121-014233-7f3a

  # Sign a run, pack it and verify the archive
  firstlight evidence sign evidence/20261121-014233-7f3a --key firstlight.key
  firstlight evidence pack evidence/20261121-014233-7f3a
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub`,
	}
	cmd.AddCommand(
		newShow(s), newReplay(s), newVerify(s),
		newKeygen(s), newSign(s), newPack(s), newPush(s), newPull(s), newExport(s),
	)
	return cmd
}

func newShow(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show DIR",
		Short: "Print the verdicts and findings of a run",
		Example: `  firstlight evidence show evidence/20261121-014233-7f3a

  # With every figure and finding
  firstlight evidence show evidence/20261121-014233-7f3a -v`,
		Args: cobra.ExactArgs(1),
	}
	verbose := report.AddVerboseFlag(cmd)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := cmdutil.RunDir(args[0])
		if err != nil {
			return err
		}
		b, err := evidence.Load(dir)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		r := accept.ReportOf(b)
		return out.Write(s.Out, r, func(w io.Writer) {
			o := report.OptionsFor(s.Out, verbose)
			report.Acceptance(w, r, o)
			report.ChainOf(w, b, o.Style)
			if !b.Finished {
				fmt.Fprintln(w, "the run is unfinished: resume it with firstlight accept --resume "+b.Header.Run)
			}
		})
	}
	return cmd
}

func newReplay(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "replay DIR",
		Short:   "Judge a run again from its stored observations; exit 1 if a verdict differs, 3 if not all was compared",
		Example: "  firstlight evidence replay evidence/20261121-014233-7f3a",
		Args:    cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := cmdutil.RunDir(args[0])
		if err != nil {
			return err
		}
		replayed, err := evidence.Replay(dir, ChecksOf)
		if _, tampered := errors.AsType[*evidence.TamperedError](err); tampered {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		err = out.Write(s.Out, replayed, func(w io.Writer) { printReplay(w, replayed) })
		if err == nil && !replayed.Identical() {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		if err == nil && replayed.Unchecked != "" {
			return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved}
		}
		return err
	}
	return cmd
}

func printReplay(w io.Writer, r evidence.Replayed) {
	for _, step := range r.Steps {
		difference := "identical"
		if step.Difference != "" {
			difference = "DIFFERENT: " + step.Difference
		}
		fmt.Fprintf(w, "%-12s %-14s %s\n", step.Step, step.Again.Verdict, difference)
	}
	for _, p := range r.Plan {
		fmt.Fprintf(w, "the plan differs from the run's command: %s\n", p)
	}
	if r.Unchecked != "" {
		fmt.Fprintf(w, "not checked: %s\n", display.Escape(r.Unchecked))
	}
	for _, c := range r.Contradictions {
		fmt.Fprintf(w, "the run contradicts its observations: %s\n", display.Escape(c.String()))
	}
	verdict := "identical"
	if !r.Identical() {
		verdict = "NOT identical"
	}
	fmt.Fprintf(w, "run %s: %s, replayed %s: %s\n", r.Run, r.Verdict, r.Again, verdict)
	if r.Unfinished {
		fmt.Fprintln(w, "the run has no manifest: its files are not verified")
	}
}
