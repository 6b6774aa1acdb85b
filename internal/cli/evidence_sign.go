package cli

import (
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
	Attestation string           `json:"attestation"`
	KeyID       string           `json:"keyID"`
	Statement   attest.Statement `json:"statement"`
	NarrowedBy  []string         `json:"narrowedBy,omitempty"`
}

func newEvidenceSign(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign DIR --key NAME.key",
		Short: "Sign a run: an in-toto statement about it, in a DSSE envelope",
		Long: `sign writes attestation.intoto.jsonl into the run's directory: who vouches for
its manifest, and what the run says, in one signed statement. A run that was
changed since it was written, or of which a verdict is not reached again from its
observations, is not signed. A run that was interrupted can be: the statement
says so, and which steps are missing.`,
		Example: `  firstlight evidence keygen
  firstlight evidence sign evidence/20261121-014233-7f3a --key firstlight.key`,
		Args: cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	keyFile := cmd.Flags().String("key", "", "private key to sign with, as evidence keygen makes it (required)")
	replace := cmd.Flags().Bool("replace", false, "replace an attestation that is there")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		if *keyFile == "" {
			return usage("give the private key to sign with: --key NAME.key (firstlight evidence keygen makes one)")
		}
		key, err := attest.LoadPrivate(*keyFile)
		if err != nil {
			return usage("%w", err)
		}
		show := newTransfer(s.Err, "sign")
		done := signed{Attestation: filepath.Join(dir, evidence.AttestationFile)}
		done.Statement, err = attest.Sign(c.Context(), dir, key, attest.SignOptions{ChecksFor: checksOf, Replace: *replace, Tell: show.tell})
		show.close(err)
		if err != nil {
			return signError(err)
		}
		if done.KeyID, err = key.KeyID(); err != nil {
			return infrastructure(err)
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
	_, err := fmt.Fprintf(w, "  %s, key %s\n", s.Attestation, s.KeyID)
	return err
}

func howFar(p attest.Predicate) string {
	return attest.Report{State: p.State, CompleteUpTo: p.CompleteUpTo, Missing: p.Missing}.Progress()
}
