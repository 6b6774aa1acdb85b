package attest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/evidence"
)

// Options of Verify.
type Options struct {
	// Keys are those of which one must have signed.
	Keys []PublicKey
	// Unsigned says that it is not asked who signed; everything else is.
	Unsigned bool
	// Archive is what was found when the run was unpacked from one; nil when it
	// was not.
	Archive *Archive
	// Expected is what the verifier knows of the run.
	Expected Expected
	// ChecksFor makes the checks that judge again.
	ChecksFor evidence.ChecksFor
	// Tell tells a watching person what is being done; may be nil.
	Tell func(format string, args ...any)
}

// Archive is what unpacking found.
type Archive struct {
	Files    int
	Problems []string
}

// Verify checks the run in dir, and what was signed about it, and reports all
// that it finds. The error is for what keeps it from looking at all.
func Verify(ctx context.Context, dir string, o Options) (Report, error) {
	if info, err := os.Stat(dir); err != nil {
		return Report{}, fmt.Errorf("verify: %w", err)
	} else if !info.IsDir() {
		return Report{}, fmt.Errorf("verify: %s is no directory", dir)
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
		f.settle(CheckArchive, None, "a directory")
		return
	}
	for _, p := range a.Problems {
		f.problem(CheckArchive, "", "%s", p)
	}
	f.settle(CheckArchive, OK, "%d files", a.Files)
}

// attestation opens and verifies what is signed; nil when there is nothing that
// can be read.
func (f *found) attestation(ctx context.Context, dir string, o Options) (*Statement, error) {
	data, err := evidence.Attestation(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f.unattested(o)
		return nil, nil //nolint:nilnil // there is no statement, which is no error
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // says what it was doing
	}
	env, payload, err := openEnvelope(data)
	if err != nil {
		f.problem(CheckEnvelope, evidence.AttestationFile, "%v", err)
	}
	if env == nil || payload == nil {
		return nil, nil //nolint:nilnil // there is no statement, which is a problem found and no error
	}
	f.settle(CheckEnvelope, OK, "DSSE, signed with %s", keyIDs(env))
	f.signature(ctx, env, o)
	s, problems := decodeStatement(payload)
	for _, p := range problems {
		f.problem(CheckSchema, "statement", "%s", p)
	}
	f.settle(CheckSchema, OK, "in-toto Statement v1, %s", s.PredicateType)
	if s.Type != StatementType || s.PredicateType != PredicateType {
		return nil, nil //nolint:nilnil // as above: it is of something else
	}
	return &s, nil
}

// signature says who signed, of those that were given.
func (f *found) signature(ctx context.Context, env *dsse.Envelope, o Options) {
	if len(o.Keys) == 0 {
		outcome := Unseen
		if o.Unsigned {
			outcome = None
		}
		f.settle(CheckSignature, outcome, "no key was given, so it was not checked who signed: anybody can have")
		return
	}
	by, err := signedBy(ctx, env, o.Keys)
	if err != nil {
		f.problem(CheckSignature, evidence.AttestationFile, "%v", err)
		return
	}
	f.report.SignedBy = by
	f.settle(CheckSignature, OK, "of key %s", by)
}

// unattested is what there is to say of a run without an attestation.
func (f *found) unattested(o Options) {
	const gone = "the run is not signed, or its attestation was removed"
	if len(o.Keys) > 0 {
		f.problem(CheckSignature, evidence.AttestationFile, "missing: %s", gone)
		return
	}
	outcome := Unseen
	if o.Unsigned {
		outcome = None
	}
	for _, name := range []string{CheckEnvelope, CheckSignature, CheckSchema, CheckSubject, CheckStatement} {
		f.settle(name, outcome, gone)
	}
}

// Refused is the report on an archive out of which not one file came.
func Refused(a Archive) Report {
	f := newFound()
	f.archive(&a)
	return f.done()
}
