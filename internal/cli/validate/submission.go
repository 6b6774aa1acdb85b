package validate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
)

func newSubmission(s cmdutil.Streams) *cobra.Command { return newSubmissionWith(s, &http.Client{}) }

type submissionFlags struct {
	version, run, product, out string
	draft, offline             bool
}

// newSubmissionWith checks addresses with client.
func newSubmissionWith(s cmdutil.Streams, client submission.Doer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "submission",
		Short: "Write the results of a run as a submission to the CNCF AI Conformance program",
		Long: `Write the verdicts and observations of a finished run in the layout of the program,
OUT/vX.Y/PRODUCT: PRODUCT.yaml, one evidence file a requirement, junit.xml. Then check the
result against the rules of the program, as check does.

A status is never better than the verdict: passed is Implemented, a check with a part that
did not run is Partially Implemented, failed is Not Implemented, not applicable is N/A with
the reason. A run with unobserved checks, an incomplete or modified run, and a run on
simulated hardware are refused. --draft writes a draft instead, marked in every file and
never valid.

The product file describes the product: directory (the name in vX.Y), metadata (the
program's keys), and requirements.ID.evidence and .notes for additions to the run.

Exit codes: 0 written and valid, or the draft that was asked for; 1 a rule is broken, or
the run was modified; 2 invalid input; 3 refused, or --offline left addresses unchecked.`,
		Example: `  # Write a submission
  firstlight validate submission --version 1.36 --run evidence/20261121-014233-7f3a --product product.yaml --out submission

  # Write a draft from a run on the lab
  firstlight validate submission --version 1.36 --run evidence/20261121-014233-7f3a --product product.yaml --out draft --draft --offline

  # Check a submission
  firstlight validate submission check submission/v1.36/turbo`,
		Args: cobra.NoArgs,
	}
	var f submissionFlags
	flags := cmd.Flags()
	flags.StringVar(&f.version, "version", "", "version of the program: "+strings.Join(catalog.Versions(), ", "))
	flags.StringVar(&f.run, "run", "", "directory of the run")
	flags.StringVar(&f.product, "product", "", "file that describes the product")
	flags.StringVar(&f.out, "out", "", "directory to write vX.Y/PRODUCT into")
	flags.BoolVar(&f.draft, "draft", false, "write a draft of a run that cannot be submitted; it is never valid")
	flags.BoolVar(&f.offline, "offline", false, "do not check addresses; exit 3 if nothing else is wrong")
	cmdutil.RequireFlags(cmd, "version", "run", "product", "out")
	cmdutil.CompleteFlag(cmd, "version", catalog.Versions())
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		composed, err := f.compose()
		if err != nil {
			return err
		}
		dir, err := submission.Write(f.out, composed)
		if errors.Is(err, submission.ErrExists) {
			return cmdutil.UsageErrorf("%w", err)
		} else if err != nil {
			return cmdutil.Unobserved(err)
		}
		report, err := examine(cmd.Context(), s, dir, client, f.offline)
		if err != nil {
			return err
		}
		w := writtenSubmission{Report: report, Valid: report.Valid(), Draft: composed.Draft, Files: len(composed.Files)}
		if err := out.Write(s.Out, w, func(to io.Writer) { printWritten(to, w) }); err != nil {
			return err
		}
		if f.draft {
			return nil
		}
		return reportExit(report)
	}
	cmd.AddCommand(newSubmissionCheck(s, client))
	return cmd
}

func (f submissionFlags) compose() (submission.Submission, error) {
	var none submission.Submission
	p, err := catalog.Load(f.version)
	if err != nil {
		return none, cmdutil.UsageErrorf("--version: %w", err)
	}
	text, err := os.ReadFile(f.product)
	if err != nil {
		return none, cmdutil.UsageErrorf("cannot read the product file: %w", err)
	}
	product, err := submission.ReadProduct(f.product, text, p)
	if err != nil {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	dir, err := cmdutil.RunDir(f.run)
	if err != nil {
		return none, err
	}
	run, err := submission.Read(dir, p)
	if _, changed := errors.AsType[*evidence.TamperedError](err); changed {
		return none, &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	} else if err != nil {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	composed, err := submission.Compose(p, product, run, f.draft)
	if _, refused := errors.AsType[*submission.RefusedError](err); refused {
		return none, cmdutil.Unobserved(err)
	} else if err != nil {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	return composed, nil
}

func newSubmissionCheck(s cmdutil.Streams, client submission.Doer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Check a submission against CNCF's rules; exit 1 if one is broken",
		Long: `Check a submission to CNCF AI Conformance, a directory vX.Y/PRODUCT, and print every
broken rule. CNCF's rules: every requirement is present, a MUST is Implemented, N/A has a
reason, metadata are complete, every evidence file exists, every address answers.
firstlight's own: ID, description and level match the checklist, no duplicates, no
evidence outside the directory, not a draft.

Exit codes: 0 valid; 1 a rule is broken; 2 invalid input; 3 no rule is broken, but some
were not checked: --offline does not check addresses.`,
		Example: `  firstlight validate submission check submission/v1.36/turbo
  firstlight validate submission check submission/v1.36/turbo --offline -o json`,
		Args: cobra.ExactArgs(1),
	}
	offline := cmd.Flags().Bool("offline", false, "do not check addresses")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		report, err := examine(cmd.Context(), s, args[0], client, *offline)
		if err != nil {
			return err
		}
		c := checkedSubmission{Report: report, Valid: report.Valid()}
		if err := out.Write(s.Out, c, func(to io.Writer) { printReported(to, report) }); err != nil {
			return err
		}
		return reportExit(report)
	}
	return cmd
}

// examine checks a directory against the rules.
func examine(ctx context.Context, s cmdutil.Streams, dir string, client submission.Doer, offline bool) (submission.Report, error) {
	var o submission.Options
	if !offline {
		o.Client = client
		fmt.Fprintln(s.Err, "checking the addresses")
	}
	report, err := submission.Validate(ctx, dir, o)
	if ctx.Err() != nil {
		return report, cmdutil.Unobserved(err)
	} else if err != nil {
		return report, cmdutil.UsageErrorf("%w", err)
	}
	return report, nil
}

// reportExit is the exit code of a report: unchecked rules do not pass.
func reportExit(r submission.Report) error {
	switch {
	case !r.Valid():
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	case len(r.Unchecked) > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved}
	default:
		return nil
	}
}

// checkedSubmission is the -o json form of check.
type checkedSubmission struct {
	submission.Report
	Valid bool `json:"valid"`
}

// writtenSubmission is the -o json form of submission.
type writtenSubmission struct {
	submission.Report
	Valid bool `json:"valid"`
	// Draft has the reasons why it is a draft; empty for a submission.
	Draft []string `json:"draft,omitempty"`
	Files int      `json:"files"`
}

func printWritten(to io.Writer, w writtenSubmission) {
	kind := "a submission"
	if len(w.Draft) > 0 {
		kind = "a DRAFT"
	}
	fmt.Fprintf(to, "wrote %s of %s\n", kind, cmdutil.Count(w.Files, "file"))
	for _, reason := range w.Draft {
		fmt.Fprintf(to, "  %s\n", reason)
	}
	fmt.Fprintln(to)
	printReported(to, w.Report)
}

// printReported prints the statuses, the problems and what was not checked.
func printReported(to io.Writer, r submission.Report) {
	if len(r.Requirements) > 0 {
		table := display.NewTable(to, "REQUIREMENT", "LEVEL", "STATUS", "EVIDENCE")
		for _, q := range r.Requirements {
			table.Row(q.ID, q.Level, q.Status, len(q.Evidence))
		}
		table.Flush()
		fmt.Fprintln(to)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(to, "%s\n    %s\n", p, p.Remedy)
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(to)
	}
	for _, u := range r.Unchecked {
		fmt.Fprintf(to, "not checked: %s (%s)\n", u.What, u.Why)
	}
	fmt.Fprintf(to, "%s: %s\n", r.Dir, summaryOf(r))
}

func summaryOf(r submission.Report) string {
	switch broken := r.Problems.Count(diag.Error); {
	case broken > 0:
		return "not valid, " + cmdutil.Count(broken, "problem")
	case len(r.Unchecked) > 0:
		return fmt.Sprintf("no rule is broken, %d not checked", len(r.Unchecked))
	default:
		return "valid for " + r.Version
	}
}
