package evidence

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
)

func newEvidence(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "evidence",
		Short: "Read, re-judge, sign, verify and hand on the evidence of a run",
		Example: `  firstlight evidence show evidence/20261121-014233-7f3a
  firstlight evidence replay evidence/20261121-014233-7f3a
  firstlight evidence verify evidence/20261121-014233-7f3a
  firstlight evidence sign evidence/20261121-014233-7f3a --key firstlight.key
  firstlight evidence pack evidence/20261121-014233-7f3a
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub`,
	}
	cmd.AddCommand(
		newEvidenceShow(s), newEvidenceReplay(s), newEvidenceVerify(s),
		newEvidenceKeygen(s), newEvidenceSign(s), newEvidencePack(s), newEvidencePush(s), newEvidencePull(s), newEvidenceExport(s),
	)
	return cmd
}

// bundleDir refuses what is no run's directory.
func bundleDir(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", usage("%w: give the directory of a run, such as evidence/20261121-014233-7f3a", err)
	}
	if !info.IsDir() {
		return "", usage("%s is no directory: give the directory of a run", path)
	}
	for _, name := range []string{"journal.jsonl", "run.json", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return path, nil
		}
	}
	return "", usage("%s holds no run: it has neither journal nor manifest", path)
}

func newEvidenceShow(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "show DIR", Short: "Print the verdicts and findings of a run", Args: cobra.ExactArgs(1)}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		b, err := evidence.Load(dir)
		if err != nil {
			return usage("%w", err)
		}
		r := accept.ReportOf(b)
		return out.write(s.Out, r, func(w io.Writer) error {
			style := display.Style{Color: colourOf(s.Out)}
			printReport(w, r, style)
			if chain, ok, err := chainIn(b); err == nil && ok {
				fmt.Fprintln(w)
				printHops(w, chain, style)
				fmt.Fprintf(w, "\n%s", chain.Waterfall(painter(style)))
			}
			if !b.Finished {
				fmt.Fprintln(w, "the run is unfinished: resume it with firstlight accept --resume "+b.Header.Run)
			}
			return nil
		})
	}
	return cmd
}

func newEvidenceReplay(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay DIR",
		Short: "Judge a run again from its stored observations alone; exits 1 when a verdict differs",
		Args:  cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		replayed, err := evidence.Replay(dir, checksOf)
		if _, tampered := errors.AsType[*evidence.TamperedError](err); tampered {
			return &exitError{code: ExitFailed, err: err}
		}
		if err != nil {
			return usage("%w", err)
		}
		err = out.write(s.Out, replayed, func(w io.Writer) error {
			for _, step := range replayed.Steps {
				difference := "identical"
				if step.Difference != "" {
					difference = "DIFFERENT: " + step.Difference
				}
				fmt.Fprintf(w, "%-12s %-14s %s\n", step.Step, step.Again.Verdict, difference)
			}
			for _, p := range replayed.Plan {
				fmt.Fprintf(w, "the plan is not the run's: %s\n", p)
			}
			for _, c := range replayed.Contradictions {
				fmt.Fprintf(w, "the run contradicts what it observed: %s\n", printable(c.String()))
			}
			verdict := "identical"
			if !replayed.Identical() {
				verdict = "NOT identical"
			}
			_, err := fmt.Fprintf(w, "run %s: %s, replayed %s: %s\n", replayed.Run, replayed.Verdict, replayed.Again, verdict)
			if replayed.Unfinished {
				fmt.Fprintln(w, "the run has no manifest: nothing vouches for its files")
			}
			return err
		})
		if err == nil && !replayed.Identical() {
			return &exitError{code: ExitFailed}
		}
		return err
	}
	return cmd
}
