package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// signed is the -o json form of sign.
type signed struct {
	// Attestation is the written file: in the run, or the Sigstore bundle.
	Attestation string `json:"attestation"`
	// KeyID is empty for the signature of an identity.
	KeyID      string           `json:"keyID,omitempty"`
	Statement  attest.Statement `json:"statement"`
	NarrowedBy []string         `json:"narrowedBy,omitempty"`
}

func newSign(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign DIR {--key NAME.key | --identity-token-file FILE --bundle FILE}",
		Short: "Sign a run: an in-toto statement in a DSSE envelope",
		Long: `Write attestation.intoto.jsonl into the run's directory: a signed statement with the
digest of its manifest and the content of its report. A modified run, or a run with a
verdict that does not follow from its observations, is refused. An interrupted run can be
signed; the statement lists the missing steps.

With --identity-token-file an identity signs instead of a key: the Fulcio
instance at --fulcio-url certifies an ephemeral key, the Rekor instance at --rekor-url logs
the signature, and both are written with the statement to --bundle, a Sigstore bundle. A
Rekor log is public and append-only: it contains the identity and the digest of the
statement.`,
		Example: `  # Sign with a key
  firstlight evidence keygen
  firstlight evidence sign evidence/20261121-014233-7f3a --key firstlight.key

  # Sign with an identity
  firstlight evidence sign evidence/20261121-014233-7f3a --identity-token-file token.jwt --bundle run.sigstore.json --fulcio-url https://fulcio.sigstore.dev --rekor-url https://rekor.sigstore.dev`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	keyFile := cmd.Flags().String("key", "", "private key file written by evidence keygen")
	replace := cmd.Flags().Bool("replace", false, "replace an existing attestation or bundle")
	var keyless keylessSign
	keyless.add(cmd)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		dir, err := cmdutil.RunDir(args[0])
		if err != nil {
			return err
		}
		show := newTransfer(s.Err, "sign")
		o := attest.SignOptions{ChecksFor: ChecksOf, Replace: *replace, Tell: show.progress}
		var done signed
		switch {
		case keyless.token != "":
			done, err = keyless.sign(c.Context(), dir, o)
		case *keyFile != "":
			done, err = signWithKey(c.Context(), dir, *keyFile, o)
		default:
			err = cmdutil.UsageErrorf("want --key NAME.key (firstlight evidence keygen writes one) or --identity-token-file FILE")
		}
		show.close(err)
		if err != nil {
			return err
		}
		run, err := evidence.Load(dir)
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		done.NarrowedBy = run.NarrowedBy()
		return out.Write(s.Out, done, func(w io.Writer) { printSigned(w, done) })
	}
	return cmd
}

func signWithKey(ctx context.Context, dir, file string, o attest.SignOptions) (signed, error) {
	done := signed{Attestation: filepath.Join(dir, evidence.AttestationFile)}
	key, err := attest.LoadPrivate(file)
	if err != nil {
		return done, cmdutil.UsageErrorf("%w", err)
	}
	if done.Statement, err = attest.Sign(ctx, dir, key, o); err != nil {
		return done, signError(err)
	}
	done.KeyID, err = key.KeyID()
	return done, cmdutil.Unobserved(err)
}

// signError is the exit code of a refused signature: 1 for a run with problems, 2 for one
// that is signed or locked.
func signError(err error) error {
	refused, ok := errors.AsType[*attest.RefusedError](err)
	switch {
	case ok && len(refused.Report.Problems) > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	case ok:
		return cmdutil.Unobserved(err)
	case errors.Is(err, evidence.ErrAttested):
		return cmdutil.UsageErrorf("%w: --replace replaces it", err)
	case errors.Is(err, evidence.ErrLocked):
		return cmdutil.UsageErrorf("%w: wait until the run ends", err)
	default:
		return cmdutil.Unobserved(err)
	}
}

func printSigned(w io.Writer, s signed) {
	p := s.Statement.Predicate
	fmt.Fprintf(w, "signed run %s: %s, %s\n", p.Run, p.Verdict, attest.Report{State: p.State, CompleteUpTo: p.CompleteUpTo, Missing: p.Missing}.Progress())
	for _, reason := range s.NarrowedBy {
		fmt.Fprintf(w, "  narrowed: %s\n", display.Escape(reason))
	}
	fmt.Fprintf(w, "  %d of %d steps have a verdict; %d files, manifest sha256 %s\n", p.Counts.Planned-p.Counts.Without, p.Counts.Planned, p.Manifest.Files, p.Manifest.SHA256)
	if p.Verdict != check.Passed {
		fmt.Fprintln(w, "  the signature covers the content of the run; the run did not pass")
	}
	by := "identity of the token"
	if s.KeyID != "" {
		by = "key " + s.KeyID
	}
	fmt.Fprintf(w, "  %s, %s\n", s.Attestation, by)
}
