package certificate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// issued is the -o json form of issue.
type issued struct {
	// Dir has the files; empty if nothing was written.
	Dir         string                  `json:"dir,omitempty"`
	Signed      bool                    `json:"signed"`
	Certificate certificate.Certificate `json:"certificate"`
}

func newIssue(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "issue RUN --terms FILE --run-key NAME.pub --key NAME.key",
		Short: "Derive a certificate from the evidence of a run, and sign it",
		Long: `Verify the evidence of a run and its signature, compare it with the terms, and write
certificate.html, certificate.pdf and the signed statement certificate.intoto.jsonl.

Every deviation from the whole playbook on the ordered inventory needs a waiver in the
terms. A waived gate is "waived", never passed, and the decision is then "accepted with
waivers". Simulated hardware, an unfinished run and a gate that was not tried cannot be
waived. A certificate that is not accepted is not written.

--specimen writes the files whatever the decision, with a banner that they certify nothing.
It needs no keys.

Exit codes: 0 accepted, or accepted with waivers; 1 not accepted, or the evidence does
not verify; 2 invalid input; 3 something could not be checked.`,
		Example: `  # List the deviations, and read the certificate before it is issued
  firstlight certificate issue evidence/20261121-014233-7f3a --terms terms.yaml --specimen

  # Issue it
  firstlight certificate issue evidence/20261121-014233-7f3a --terms terms.yaml --run-key firstlight.pub --key acceptance.key`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	termsFile := cmd.Flags().String("terms", "", "file with the terms (certificate terms prints a form)")
	runKeys := cmd.Flags().StringArray("run-key", nil, "public key of an accepted signer of the evidence (repeatable; one must match)")
	keyFile := cmd.Flags().String("key", "", "private key of the certificate, as evidence keygen writes it")
	specimen := cmd.Flags().Bool("specimen", false, "write the files whatever the decision, marked as certifying nothing")
	dir := cmd.Flags().String("dir", "certificate", "directory to write to")
	replace := cmd.Flags().Bool("replace", false, "replace the certificate in --dir")
	if err := cmd.MarkFlagRequired("terms"); err != nil {
		panic(err) // the flag is defined above
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		terms, err := readTerms(*termsFile)
		if err != nil {
			return err
		}
		if !*specimen && len(*runKeys) == 0 {
			return cmdutil.UsageErrorf("a certificate needs signed evidence: give the signer with --run-key NAME.pub (firstlight evidence sign signs a run)")
		}
		var signer attest.Signer
		if *keyFile != "" {
			if signer, err = attest.LoadPrivate(*keyFile); err != nil {
				return cmdutil.UsageErrorf("%w", err)
			}
		}
		if !*specimen && signer == nil {
			return cmdutil.UsageErrorf("a certificate must be signed: give --key NAME.key (firstlight evidence keygen writes one), or --specimen")
		}
		e, err := verifiedEvidence(cmd.Context(), args[0], *runKeys, "evidence for a certificate")
		if err != nil {
			return err
		}
		c, err := certificate.Derive(e, terms, cmdutil.Version, time.Now().Truncate(time.Second))
		switch {
		case errors.Is(err, certificate.ErrTerms):
			return cmdutil.UsageErrorf("%s: %w", *termsFile, err)
		case errors.Is(err, certificate.ErrUnfinished):
			return cmdutil.UsageErrorf("%w", err)
		case err != nil:
			return cmdutil.Unobserved(err)
		}
		c.Specimen = *specimen
		done := issued{Certificate: c}
		if c.Specimen || c.Decision != certificate.NotAccepted {
			if err := vacant(*dir, *replace); err != nil {
				return err
			}
			if err := c.Write(cmd.Context(), *dir, signer); err != nil {
				return writeError(err)
			}
			done.Dir, done.Signed = *dir, signer != nil
		}
		if err := out.Write(s.Out, done, func(w io.Writer) { printIssued(w, done, cmdutil.StyleOf(s.Out)) }); err != nil {
			return err
		}
		if c.Decision == certificate.NotAccepted {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return nil
	}
	return cmd
}

func readTerms(file string) (certificate.Terms, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return certificate.Terms{}, cmdutil.UsageErrorf("cannot read --terms: %w", err)
	}
	terms, err := certificate.ParseTerms(file, data)
	if err != nil {
		return terms, cmdutil.UsageErrorf("%w", err)
	}
	return terms, nil
}

// verifiedEvidence verifies a run and derives the checks that judged it.
func verifiedEvidence(ctx context.Context, run string, keys []string, purpose string) (certificate.Evidence, error) {
	b, r, err := clievidence.Verified(ctx, run, keys, purpose)
	if err != nil {
		return certificate.Evidence{}, err
	}
	derived, err := clievidence.ChecksOf(b)
	if err != nil {
		return certificate.Evidence{}, cmdutil.Unobserved(err)
	}
	return certificate.Evidence{Bundle: b, Manifest: r.Manifest, SignedBy: r.SignedBy, Checks: derived.Checks}, nil
}

// vacant refuses a directory with a certificate, unless replace is set.
func vacant(dir string, replace bool) error {
	statement := filepath.Join(dir, certificate.StatementFile)
	_, err := os.Lstat(statement)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && replace:
		return nil
	case err != nil:
		return cmdutil.UsageErrorf("cannot write to --dir: %w", err)
	default:
		return cmdutil.UsageErrorf("%s exists: choose another --dir, or --replace", statement)
	}
}

func writeError(err error) error {
	if errors.Is(err, certificate.ErrCharacters) || errors.Is(err, certificate.ErrSameKey) {
		return cmdutil.UsageErrorf("%w", err)
	}
	return cmdutil.Unobserved(err)
}

func printIssued(w io.Writer, done issued, style display.Style) {
	c := done.Certificate
	printCertificate(w, c, style)
	if done.Dir == "" {
		final := 0
		for _, d := range c.Open() {
			if d.Final {
				final++
			}
		}
		remedy := "waive the deviations in the terms, or accept again"
		if final > 0 {
			remedy = fmt.Sprintf("%s cannot be waived: accept again", cmdutil.Count(final, "deviation"))
		}
		fmt.Fprintf(w, "\nnothing was written: %s; --specimen shows how it looks\n", remedy)
		return
	}
	files := []string{filepath.Join(done.Dir, certificate.PageFile), filepath.Join(done.Dir, certificate.PrintFile)}
	kind := "certificate"
	if done.Signed {
		files = append(files, filepath.Join(done.Dir, certificate.StatementFile))
	}
	if c.Specimen {
		kind = "specimen, which certifies nothing"
	}
	fmt.Fprintf(w, "\n%s: %s\n", kind, strings.Join(files, ", "))
}

// printCertificate prints the decision and the deviations.
func printCertificate(w io.Writer, c certificate.Certificate, style display.Style) {
	fmt.Fprintf(w, "certificate of run %s: %s\n", style.Bold(display.Escape(c.Run.ID)), display.Escape(string(c.Decision)))
	met := 0
	for _, f := range c.Figures {
		if f.Met {
			met++
		}
	}
	nodes, gpus := c.Count()
	fmt.Fprintf(w, "  %s, %s to %s\n", display.Escape(c.Terms.Contract.Reference), display.Escape(c.Terms.Contract.Supplier), display.Escape(c.Terms.Contract.Customer))
	fmt.Fprintf(w, "  inventory: %s, %s; figures of the contract met: %d of %d\n", cmdutil.Count(nodes, "node"), cmdutil.Count(gpus, "GPU"), met, len(c.Figures))
	fmt.Fprintf(w, "  evidence sha256 %s\n", display.Escape(c.Run.Manifest))
	for _, d := range c.Deviations {
		state := "open"
		switch {
		case d.Final:
			state = "cannot be waived"
		case d.Expired:
			state = "waiver expired " + d.Waiver.Expires
		case d.Waiver != nil:
			state = fmt.Sprintf("waived by %s until %s", d.Waiver.Owner, d.Waiver.Expires)
		}
		fmt.Fprintf(w, "  deviation: %s, %s: %s (%s)\n", display.Escape(d.Where()), display.Escape(d.Suspect), display.Escape(d.Text), display.Escape(state))
	}
}
