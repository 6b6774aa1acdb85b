package certificate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/certificate"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/display"
)

// verification is the -o json form of verify.
type verification struct {
	Intact   bool     `json:"intact"`
	Problems []string `json:"problems"`
	SignedBy string   `json:"signedBy,omitempty"`
	// ComparedWithRun: the certificate was derived again from the run.
	ComparedWithRun bool `json:"comparedWithRun"`
	// ComparedWithTerms: the terms are those of --terms, or a problem says otherwise.
	ComparedWithTerms bool                    `json:"comparedWithTerms"`
	Certificate       certificate.Certificate `json:"certificate"`
}

func newVerify(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify DIR --key NAME.pub",
		Short: "Verify a certificate, and compare it with its run",
		Long: `Verify the signature of a certificate, its printable files, that the decision follows from
the deviations, and that each waiver is still in force. With --run the evidence is verified
and the certificate derived from it again: a difference is named. With --terms the terms must
be those of the file: they are stated by the signer.

Exit codes: 0 nothing is wrong; 1 something is wrong; 2 invalid input; 3 something could
not be checked.`,
		Example: `  # Verify the signature and the files
  firstlight certificate verify certificate --key acceptance.pub

  # Compare it with its run
  firstlight certificate verify certificate --key acceptance.pub --run evidence/20261121-014233-7f3a --run-key firstlight.pub --terms terms.yaml`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	keyFiles := cmd.Flags().StringArray("key", nil, "public key of an accepted signer of the certificate (repeatable; one must match)")
	run := cmd.Flags().String("run", "", "directory of the run")
	termsFile := cmd.Flags().String("terms", "", "file with the terms that the certificate must have")
	runKeys := cmd.Flags().StringArray("run-key", nil, "public key of an accepted signer of the evidence (repeatable; one must match)")
	cmd.MarkFlagsRequiredTogether("run", "run-key")
	if err := cmd.MarkFlagRequired("key"); err != nil {
		panic(err) // the flag is defined above
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys, err := clievidence.PublicKeys(*keyFiles)
		if err != nil {
			return err
		}
		v := verification{Problems: []string{}}
		v.Certificate, v.SignedBy, err = certificate.Read(cmd.Context(), args[0], keys, cmdutil.Version)
		switch {
		case errors.Is(err, os.ErrNotExist) && v.SignedBy == "":
			return cmdutil.UsageErrorf("%w", err)
		case err != nil:
			v.Problems = strings.Split(err.Error(), "\n")
		}
		signed := v.SignedBy != ""
		if *termsFile != "" && signed {
			terms, err := readTerms(*termsFile)
			if err != nil {
				return err
			}
			v.ComparedWithTerms = true
			if !reflect.DeepEqual(terms, v.Certificate.Terms) {
				v.Problems = append(v.Problems, "the terms are not those of "+*termsFile)
			}
		}
		if v.Certificate.Specimen {
			v.Problems = append(v.Problems, "a specimen certifies nothing")
		}
		for _, d := range v.Certificate.Expired(time.Now()) {
			v.Problems = append(v.Problems, fmt.Sprintf("the waiver of %s expired %s: the acceptance is no longer in force", d.Suspect, d.Waiver.Expires))
		}
		if *run != "" && signed {
			differences, err := compareWithRun(cmd.Context(), v.Certificate, *run, *runKeys)
			if err != nil {
				return err
			}
			v.ComparedWithRun = true
			v.Problems = append(v.Problems, differences...)
		}
		v.Intact = len(v.Problems) == 0
		if err := out.Write(s.Out, v, func(w io.Writer) { printVerification(w, v, cmdutil.StyleOf(s.Out)) }); err != nil {
			return err
		}
		if !v.Intact {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		}
		return nil
	}
	return cmd
}

// compareWithRun derives the certificate again and returns what differs.
func compareWithRun(ctx context.Context, c certificate.Certificate, run string, keys []string) ([]string, error) {
	e, err := verifiedEvidence(ctx, run, keys, "the run of the certificate")
	if err != nil {
		return nil, err
	}
	derived, err := certificate.Derive(e, c.Terms, c.Tool, c.Issued)
	if errors.Is(err, certificate.ErrTerms) || errors.Is(err, certificate.ErrUnfinished) {
		return []string{err.Error()}, nil
	}
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	derived.Specimen = c.Specimen
	fields, err := c.Differences(derived)
	if err != nil {
		return nil, cmdutil.Unobserved(err)
	}
	version := ""
	if c.Tool != cmdutil.Version {
		version = fmt.Sprintf(" (derived by firstlight %s, compared by %s: use the same version)", c.Tool, cmdutil.Version)
	}
	var out []string
	for _, name := range fields {
		out = append(out, fmt.Sprintf("%s does not follow from the run%s", name, version))
	}
	return out, nil
}

func printVerification(w io.Writer, v verification, style display.Style) {
	if v.Certificate.Run.ID != "" {
		printCertificate(w, v.Certificate, style)
		fmt.Fprintln(w)
	}
	for _, p := range v.Problems {
		fmt.Fprintf(w, "problem: %s\n", display.Escape(p))
	}
	if v.SignedBy != "" {
		fmt.Fprintf(w, "signed by key %s\n", v.SignedBy)
	}
	if !v.ComparedWithRun {
		fmt.Fprintln(w, "not compared with its run (--run)")
	}
	if !v.ComparedWithTerms {
		fmt.Fprintln(w, "not compared with its terms (--terms): they are stated by the signer")
	}
	if v.Intact {
		fmt.Fprintln(w, "valid")
	} else {
		fmt.Fprintln(w, "not valid")
	}
}
