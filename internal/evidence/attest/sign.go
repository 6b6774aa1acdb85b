package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/keyless"
)

// RefusedError is returned by Sign for a run that does not verify.
type RefusedError struct{ Report Report }

func (e *RefusedError) Error() string {
	lines := []string{"run not signed: it does not verify:"}
	for _, p := range e.Report.Problems {
		lines = append(lines, p.String())
	}
	for _, c := range e.Report.Checks {
		if c.Outcome == NotChecked {
			lines = append(lines, c.Check+": not checked: "+c.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// SignOptions of Sign.
type SignOptions struct {
	// ChecksFor derives the checks for the replay before signing.
	ChecksFor evidence.ChecksFor
	// Replace replaces an existing attestation; otherwise evidence.ErrAttested.
	Replace bool
	Clock   func() time.Time // time.Now
	Tell    func(format string, args ...any)
}

// Sign signs the run in dir and stores the attestation in it. The run can be interrupted; the
// statement then records it. RefusedError: the run was changed, or a verdict does not replay.
// evidence.ErrLocked: another process writes the run.
func Sign(ctx context.Context, dir string, signer Signer, o SignOptions) (Statement, error) {
	return signChecked(dir, o, func(payload []byte) error {
		line, err := Seal(ctx, payload, signer)
		if err != nil {
			return err
		}
		return evidence.Attach(dir, line, o.Replace)
	})
}

// SignKeyless is Sign with an identity instead of a key. It returns the attestation, a Sigstore
// bundle, and does not store it in the run.
func SignKeyless(ctx context.Context, dir string, service keyless.Service, o SignOptions) (Statement, []byte, error) {
	var bundle []byte
	s, err := signChecked(dir, o, func(payload []byte) (err error) {
		bundle, err = service.Sign(ctx, PayloadType, payload)
		return err
	})
	return s, bundle, err
}

// signChecked verifies the run in dir and passes its encoded statement to sign.
func signChecked(dir string, o SignOptions, sign func(payload []byte) error) (Statement, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	f := newFound()
	for _, name := range []string{CheckArchive, CheckEnvelope, CheckSignature, CheckSchema, CheckSubject, CheckStatement, CheckExpected} {
		f.setOutcome(name, None, "not signed yet")
	}
	i := inspection{found: f, dir: dir, signing: true, checksFor: o.ChecksFor, tell: o.Tell}
	if i.tell == nil {
		i.tell = func(string, ...any) {}
	}
	var s Statement
	err := evidence.WithExclusiveLock(dir, func() error {
		i.inspect()
		report := f.done()
		if report.Outcome() != OK {
			return &RefusedError{Report: report}
		}
		var err error
		s, err = attested(dir, *i.supported, o, sign)
		return err
	})
	if err != nil {
		return Statement{}, fmt.Errorf("sign the run in %s: %w", dir, err)
	}
	return s, nil
}

// errChanged is returned for a run that changed between verification and signature.
var errChanged = errors.New("the run changed during verification: sign it again")

// attested signs the verified statement if the run is still unchanged: the statement has the
// digest of every file.
func attested(dir string, s Statement, o SignOptions, sign func(payload []byte) error) (Statement, error) {
	m, err := evidence.Inventory(dir)
	if err != nil {
		return Statement{}, err
	}
	if m.Digest != s.Predicate.Manifest.SHA256 {
		return Statement{}, errChanged
	}
	s.Predicate.Attested = o.Clock().UTC()
	payload, err := json.Marshal(s)
	if err != nil {
		return Statement{}, fmt.Errorf("encode the statement: %w", err)
	}
	if _, problems := decodeStatement(payload); len(problems) > 0 {
		return Statement{}, fmt.Errorf("the statement does not match its schema: %s", strings.Join(problems, "; "))
	}
	return s, sign(payload)
}
