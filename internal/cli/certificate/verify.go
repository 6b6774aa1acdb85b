package certificate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	ComparedWithRun bool                    `json:"comparedWithRun"`
	Certificate     certificate.Certificate `json:"certificate"`
}

func newVerify(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify DIR --key NAME.pub",
		Short: "Verify a certificate, and compare it with its run",
		Long: `Verify the signature of a certificate, that its printable files are those that were
signed, and that each waiver is still in force. With --run the evidence is verified and
the certificate derived from it again: a difference is named.

Exit codes: 0 nothing is wrong; 1 something is wrong; 2 invalid input; 3 something could
not be checked.`,
		Example: `  # Verify the signature and the files
  firstlight certificate verify certificate --key acceptance.pub

  # Compare it with its run
  firstlight certificate verify certificate --key acceptance.pub --run evidence/20261121-014233-7f3a --run-key firstlight.pub`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	keyFiles := cmd.Flags().StringArray("key", nil, "public key of an accepted signer of the certificate (repeatable; one must match)")
	run := cmd.Flags().String("run", "", "directory of the run")
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
		v.Certificate, v.SignedBy, err = certificate.Read(cmd.Context(), args[0], keys)
		switch {
		case errors.Is(err, os.ErrNotExist) && v.SignedBy == "":
			return cmdutil.UsageErrorf("%w", err)
		case err != nil:
			v.Problems = strings.Split(err.Error(), "\n")
		}
		if v.Certificate.Specimen {
			v.Problems = append(v.Problems, "a specimen certifies nothing")
		}
		for _, d := range v.Certificate.Expired(time.Now()) {
			v.Problems = append(v.Problems, fmt.Sprintf("the waiver of %s expired %s: the acceptance is no longer in force", d.Suspect, d.Waiver.Expires))
		}
		if *run != "" && err == nil {
			differences, err := against(cmd.Context(), v.Certificate, *run, *runKeys)
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

// against derives the certificate again and returns what differs.
func against(ctx context.Context, c certificate.Certificate, run string, keys []string) ([]string, error) {
	b, signedBy, err := clievidence.Verified(ctx, run, keys, "the run of the certificate")
	if err != nil {
		return nil, err
	}
	derived, err := certificate.Of(b, signedBy, c.Terms, c.Issued)
	if errors.Is(err, certificate.ErrTerms) {
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
	var out []string
	for _, name := range fields {
		out = append(out, fmt.Sprintf("%s does not follow from the run", name))
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
	switch {
	case !v.Intact:
		fmt.Fprintln(w, "not valid")
	case v.ComparedWithRun:
		fmt.Fprintln(w, "valid, and follows from its run")
	default:
		fmt.Fprintln(w, "valid; not compared with its run (--run)")
	}
}
