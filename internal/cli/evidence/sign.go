package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
)

// signed is the -o json form of sign.
type signed struct {
	// Attestation is the file that was written: with the run, or the Sigstore bundle.
	Attestation string `json:"attestation"`
	// KeyID is empty where an identity signed.
	KeyID      string           `json:"keyID,omitempty"`
	Statement  attest.Statement `json:"statement"`
	NarrowedBy []string         `json:"narrowedBy,omitempty"`
}

func newEvidenceSign(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign DIR {--key NAME.key | --identity-token-file FILE --bundle FILE}",
		Short: "Sign a run: an in-toto statement about it, in a DSSE envelope",
		Long: `sign writes attestation.intoto.jsonl into the run's directory: who vouches for
its manifest, and what the run says, in one signed statement. A run that was
changed since it was written, or of which a verdict is not reached again from its
observations, is not signed. A run that was interrupted can be: the statement
says so, and which steps are missing.

With --identity-token-file an identity signs instead of a key: the Fulcio of --fulcio-url
certifies a key of a moment for it, the Rekor of --rekor-url logs the signature, and
both are written with the statement to --bundle, a Sigstore bundle that is handed on
beside the run. A log is public: it keeps the identity and the digest of the statement.`,
		Example: `  firstlight evidence keygen
  firstlight evidence sign evidence/20261121-014233-7f3a --key firstlight.key
  firstlight evidence sign evidence/20261121-014233-7f3a --identity-token-file token.jwt --bundle run.sigstore.json --fulcio-url https://fulcio.sigstore.dev --rekor-url https://rekor.sigstore.dev`,
		Args: cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	keyFile := cmd.Flags().String("key", "", "private key to sign with, as evidence keygen makes it")
	replace := cmd.Flags().Bool("replace", false, "replace an attestation or bundle that is there")
	var keyless keylessSign
	keyless.add(cmd)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		show := newTransfer(s.Err, "sign")
		o := attest.SignOptions{ChecksFor: checksOf, Replace: *replace, Tell: show.tell}
		var done signed
		switch {
		case keyless.token != "":
			done, err = keyless.sign(c.Context(), dir, o)
		case *keyFile != "":
			done, err = signWithKey(c.Context(), dir, *keyFile, o)
		default:
			err = usage("give the private key to sign with: --key NAME.key (firstlight evidence keygen makes one), or an identity: --identity-token-file FILE")
		}
		show.close(err)
		if err != nil {
			return err
		}
		run, err := evidence.Load(dir)
		if err != nil {
			return infrastructure(err)
		}
		done.NarrowedBy = run.NarrowedBy()
		return out.write(s.Out, done, func(w io.Writer) error { return printSigned(w, done) })
	}
	return cmd
}

func signWithKey(ctx context.Context, dir, file string, o attest.SignOptions) (signed, error) {
	done := signed{Attestation: filepath.Join(dir, evidence.AttestationFile)}
	key, err := attest.LoadPrivate(file)
	if err != nil {
		return done, usage("%w", err)
	}
	if done.Statement, err = attest.Sign(ctx, dir, key, o); err != nil {
		return done, signError(err)
	}
	done.KeyID, err = key.KeyID()
	return done, infrastructure(err)
}

// signError says what became of a run that is not signed: 1 when it can not be
// vouched for, 2 when it is not to be signed now.
func signError(err error) error {
	refused, ok := errors.AsType[*attest.RefusedError](err)
	switch {
	case ok && len(refused.Report.Problems) > 0:
		return &exitError{code: ExitFailed, err: err}
	case ok:
		return infrastructure(err)
	case errors.Is(err, evidence.ErrAttested):
		return usage("%w: --replace replaces it", err)
	case errors.Is(err, evidence.ErrLocked):
		return usage("%w: wait for its end", err)
	default:
		return infrastructure(err)
	}
}

func printSigned(w io.Writer, s signed) error {
	p := s.Statement.Predicate
	fmt.Fprintf(w, "signed run %s: %s, %s\n", p.Run, p.Verdict, howFar(p))
	for _, reason := range s.NarrowedBy {
		fmt.Fprintf(w, "  narrowed: %s\n", printable(reason))
	}
	fmt.Fprintf(w, "  %d of %d steps have a verdict; %d files, manifest sha256 %s\n", p.Counts.Planned-p.Counts.Without, p.Counts.Planned, p.Manifest.Files, p.Manifest.SHA256)
	if p.Verdict != check.Passed {
		fmt.Fprintln(w, "  a signature says that the run is as it was, not that it passed")
	}
	by := "by the identity of the token"
	if s.KeyID != "" {
		by = "key " + s.KeyID
	}
	_, err := fmt.Fprintf(w, "  %s, %s\n", s.Attestation, by)
	return err
}

func howFar(p attest.Predicate) string {
	return attest.Report{State: p.State, CompleteUpTo: p.CompleteUpTo, Missing: p.Missing}.Progress()
}
