package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/evidence"
)

func newValidateSubmission(s Streams) *cobra.Command {
	return newSubmission(s, &http.Client{})
}

// submissionFlags are the flags of submission.
type submissionFlags struct {
	version, run, product, out string
	draft, offline             bool
}

// newSubmission is newValidateSubmission with what asks the addresses.
func newSubmission(s Streams, client submission.Doer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "submission",
		Short: "Write what a run showed as a submission to the CNCF AI Conformance programme",
		Long: `submission takes the verdicts and the observations of a finished run and writes them in
the programme's own layout, OUT/vX.Y/PRODUCT: PRODUCT.yaml, one file of evidence a
requirement, junit.xml. Then it holds that against the programme's rules, as check does.

A status is never better than what was shown: passed is Implemented, a check of which a
half was not run is Partially Implemented, failed is Not Implemented, not applicable is
N/A with the reason. A run that did not see everything, is not whole, was changed, or is
on simulated hardware is refused. --draft writes it all the same, says so in every file,
and is never valid.

What is to be said of the product stands in the product file: directory (the name in
vX.Y), metadata (the programme's keys), and requirements.ID.evidence and .notes for what
is to be said beside what the run showed.

Exit codes: 0 it is written and valid, or it is the draft that was asked for; 1 a rule is
broken, or the run was changed; 2 bad input; 3 it is refused, or --offline left addresses
unasked.`,
		Example: `  firstlight validate submission --version 1.36 --run evidence/20261121-014233-7f3a --product product.yaml --out submission
  firstlight validate submission --version 1.36 --run evidence/20261121-014233-7f3a --product product.yaml --out draft --draft --offline
  firstlight validate submission check submission/v1.36/turbo`,
		Args: cobra.NoArgs,
	}
	var f submissionFlags
	flags := cmd.Flags()
	flags.StringVar(&f.version, "version", "", "version of the programme: "+strings.Join(catalog.Versions(), ", "))
	flags.StringVar(&f.run, "run", "", "directory of the run")
	flags.StringVar(&f.product, "product", "", "file that says what the product is")
	flags.StringVar(&f.out, "out", "", "directory to write into, as vX.Y/PRODUCT")
	flags.BoolVar(&f.draft, "draft", false, "write a draft of a run that can't be submitted; it is never valid")
	flags.BoolVar(&f.offline, "offline", false, "do not ask whether addresses answer; exits 3 where nothing else is wrong")
	for _, name := range []string{"version", "run", "product", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag was added above
		}
	}
	if err := cmd.RegisterFlagCompletionFunc("version", cobra.FixedCompletions(catalog.Versions(), cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // as above
	}
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		composed, err := f.compose()
		if err != nil {
			return err
		}
		dir, err := submission.Write(f.out, composed)
		if errors.Is(err, submission.ErrThere) {
			return usage("%w", err)
		} else if err != nil {
			return infrastructure(err)
		}
		report, err := examine(cmd.Context(), s, dir, client, f.offline)
		if err != nil {
			return err
		}
		w := writtenSubmission{Report: report, Valid: report.Valid(), Draft: composed.Draft, Files: len(composed.Files)}
		if err := out.write(s.Out, w, func(to io.Writer) error { return printWritten(to, w) }); err != nil {
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

// compose reads what there is and makes a submission of it.
func (f submissionFlags) compose() (submission.Submission, error) {
	var none submission.Submission
	p, err := catalog.Load(f.version)
	if err != nil {
		return none, usage("--version: %w", err)
	}
	text, err := os.ReadFile(f.product)
	if err != nil {
		return none, usage("read the product file: %w", err)
	}
	product, err := submission.ReadProduct(f.product, text, p)
	if err != nil {
		return none, usage("%w", err)
	}
	dir, err := bundleDir(f.run)
	if err != nil {
		return none, err
	}
	run, err := submission.Read(dir, p)
	if _, changed := errors.AsType[*evidence.TamperedError](err); changed {
		return none, &exitError{code: ExitFailed, err: err}
	} else if err != nil {
		return none, usage("%w", err)
	}
	composed, err := submission.Compose(p, product, run, f.draft)
	if _, refused := errors.AsType[*submission.RefusedError](err); refused {
		return none, infrastructure(err)
	} else if err != nil {
		return none, usage("%w", err)
	}
	return composed, nil
}

func newSubmissionCheck(s Streams, client submission.Doer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Hold a submission against the programme's rules; exits 1 when one is broken",
		Long: `check reads a submission, vX.Y/PRODUCT, made by firstlight or by anybody else, and names
everything in it that breaks a rule: of the programme (every requirement is there, a MUST
is Implemented, N/A says why, metadata are filled in, every file of evidence is there and
every address answers) or of ours (id, description and level are as in the checklist,
nothing is there twice, no evidence lies outside of the directory, it is no draft).

Exit codes: 0 valid; 1 a rule is broken; 2 bad input; 3 nothing is broken, and something
could not be looked at: with --offline addresses are not asked.`,
		Example: `  firstlight validate submission check submission/v1.36/turbo
  firstlight validate submission check submission/v1.36/turbo --offline -o json`,
		Args: cobra.ExactArgs(1),
	}
	offline := cmd.Flags().Bool("offline", false, "do not ask whether addresses answer")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		report, err := examine(cmd.Context(), s, args[0], client, *offline)
		if err != nil {
			return err
		}
		c := checkedSubmission{Report: report, Valid: report.Valid()}
		if err := out.write(s.Out, c, func(to io.Writer) error { return printReported(to, report) }); err != nil {
			return err
		}
		return reportExit(report)
	}
	return cmd
}

// examine holds a directory against the rules.
func examine(ctx context.Context, s Streams, dir string, client submission.Doer, offline bool) (submission.Report, error) {
	var o submission.Options
	if !offline {
		o.Client = client
		fmt.Fprintln(s.Err, "asking whether the addresses answer")
	}
	report, err := submission.Validate(ctx, dir, o)
	if ctx.Err() != nil {
		return report, infrastructure(err)
	} else if err != nil {
		return report, usage("%w", err)
	}
	return report, nil
}

// reportExit is the mute exit of a report: what was not looked at is no pass.
func reportExit(r submission.Report) error {
	switch {
	case !r.Valid():
		return &exitError{code: ExitFailed}
	case len(r.Unchecked) > 0:
		return &exitError{code: ExitUnobserved}
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
	// Draft says why it is one; none: it is none.
	Draft []string `json:"draft,omitempty"`
	Files int      `json:"files"`
}

func printWritten(to io.Writer, w writtenSubmission) error {
	what := "a submission"
	if len(w.Draft) > 0 {
		what = "a DRAFT"
	}
	fmt.Fprintf(to, "wrote %s of %d files\n", what, w.Files)
	for _, why := range w.Draft {
		fmt.Fprintf(to, "  %s\n", why)
	}
	fmt.Fprintln(to)
	return printReported(to, w.Report)
}

// printReported shows the statuses, what is wrong, and what nobody looked at.
func printReported(to io.Writer, r submission.Report) error {
	if len(r.Requirements) > 0 {
		table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "REQUIREMENT\tLEVEL\tSTATUS\tEVIDENCE")
		for _, q := range r.Requirements {
			status := string(q.Status)
			if status == "" {
				status = "-"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", q.ID, q.Level, status, len(q.Evidence))
		}
		if err := table.Flush(); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
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
	_, err := fmt.Fprintf(to, "%s: %s\n", r.Dir, summaryOf(r))
	return err //nolint:wrapcheck // writes to our own stream
}

func summaryOf(r submission.Report) string {
	broken := r.Problems.Count(diag.Error)
	switch {
	case broken == 1:
		return "not valid, 1 problem"
	case broken > 0:
		return fmt.Sprintf("not valid, %d problems", broken)
	case len(r.Unchecked) > 0:
		return fmt.Sprintf("nothing is wrong in it, %d not checked", len(r.Unchecked))
	default:
		return "valid for " + r.Version
	}
}
