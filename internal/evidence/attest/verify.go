package attest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/keyless"
)

// Options of Verify.
type Options struct {
	// Keys are the accepted keys; one must have signed.
	Keys []PublicKey
	// Bundle is the Sigstore bundle of a run that an identity signed; nil for a run that is
	// unsigned or signed with a key. Trust is the accepted identity.
	Bundle []byte
	Trust  *keyless.Trust
	// Unsigned skips the check of the signature only.
	Unsigned bool
	// Archive is the result of unpacking; nil for a directory.
	Archive *Archive
	// Expected is the expectation of the verifier.
	Expected Expected
	// ChecksFor derives the checks for the replay.
	ChecksFor evidence.ChecksFor
	// Tell receives progress messages; can be nil.
	Tell func(format string, args ...any)
}

// Archive is the result of unpacking.
type Archive struct {
	Files    int
	Problems []string
}

// Verify verifies the run in dir and its attestation, and reports all problems. The error is for
// files that cannot be read.
func Verify(ctx context.Context, dir string, o Options) (Report, error) {
	if info, err := os.Stat(dir); err != nil {
		return Report{}, fmt.Errorf("verify: %w", err)
	} else if !info.IsDir() {
		return Report{}, fmt.Errorf("verify: %s is not a directory", dir)
	}
	f := newFound()
	f.archive(o.Archive)
	statement, err := f.attestation(ctx, dir, o)
	if err != nil {
		return Report{}, fmt.Errorf("verify: %w", err)
	}
	i := inspection{found: f, dir: dir, statement: statement, checksFor: o.ChecksFor, tell: o.Tell, expected: o.Expected}
	if i.tell == nil {
		i.tell = func(string, ...any) {}
	}
	i.inspect()
	return f.done(), nil
}

func (f *found) archive(a *Archive) {
	if a == nil {
		f.setOutcome(CheckArchive, None, "a directory")
		return
	}
	for _, p := range a.Problems {
		f.problem(CheckArchive, "", "%s", p)
	}
	f.setOutcome(CheckArchive, OK, "%d files", a.Files)
}

// attestation opens and verifies the attestation; nil if it is missing or unreadable.
func (f *found) attestation(ctx context.Context, dir string, o Options) (*Statement, error) {
	if o.Bundle != nil {
		return f.bundle(o), nil
	}
	data, err := evidence.Attestation(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f.unattested(o)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	env, payload, err := openEnvelope(data)
	if err != nil {
		f.problem(CheckEnvelope, evidence.AttestationFile, "%v", err)
	}
	if env == nil || payload == nil {
		return nil, nil
	}
	f.setOutcome(CheckEnvelope, OK, "DSSE, signed with %s", keyIDs(env))
	f.signature(ctx, env, o)
	return f.statement(payload), nil
}

// bundleFile is the name of the Sigstore bundle in problems.
const bundleFile = "bundle"

// bundle is attestation for a run signed by an identity.
func (f *found) bundle(o Options) *Statement {
	b, err := keyless.Open(o.Bundle)
	if err != nil {
		f.problem(CheckEnvelope, bundleFile, "%v", err)
		return nil
	}
	payload, err := payloadOf(b.Envelope())
	if err != nil {
		f.problem(CheckEnvelope, bundleFile, "%v", err)
	}
	if payload == nil {
		return nil
	}
	f.setOutcome(CheckEnvelope, OK, "DSSE, in a Sigstore bundle")
	if by, err := b.Verify(o.Trust); err != nil {
		f.problem(CheckSignature, bundleFile, "%v", err)
	} else {
		f.report.SignedBy = by.Identity
		f.setOutcome(CheckSignature, OK, "of %s, issued by %s, logged %s", by.Identity, by.Issuer, by.At.UTC().Format(time.RFC3339))
	}
	return f.statement(payload)
}

// statement reads a payload; nil if it is not a statement about a run.
func (f *found) statement(payload []byte) *Statement {
	s, problems := decodeStatement(payload)
	for _, p := range problems {
		f.problem(CheckSchema, "statement", "%s", p)
	}
	f.setOutcome(CheckSchema, OK, "in-toto Statement v1, %s", s.PredicateType)
	if s.Type != StatementType || s.PredicateType != PredicateType {
		return nil // another kind of statement
	}
	return &s
}

// signature checks that a given key signed.
func (f *found) signature(ctx context.Context, env *dsse.Envelope, o Options) {
	if len(o.Keys) == 0 {
		outcome := NotChecked
		if o.Unsigned {
			outcome = None
		}
		f.setOutcome(CheckSignature, outcome, "no key given: the signer is unknown")
		return
	}
	by, err := signedBy(ctx, env, o.Keys)
	if err != nil {
		f.problem(CheckSignature, evidence.AttestationFile, "%v", err)
		return
	}
	f.report.SignedBy = by
	f.setOutcome(CheckSignature, OK, "of key %s", by)
}

// unattested reports a run without an attestation.
func (f *found) unattested(o Options) {
	const gone = "the run is not signed, or its attestation was removed"
	if len(o.Keys) > 0 {
		f.problem(CheckSignature, evidence.AttestationFile, "missing: %s", gone)
		return
	}
	outcome := NotChecked
	if o.Unsigned {
		outcome = None
	}
	for _, name := range []string{CheckEnvelope, CheckSignature, CheckSchema, CheckSubject, CheckStatement} {
		f.setOutcome(name, outcome, gone)
	}
}

// Refused is the report on an archive without a readable file.
func Refused(a Archive) Report {
	f := newFound()
	f.archive(&a)
	return f.done()
}
