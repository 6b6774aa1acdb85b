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

// RefusedError is what Sign refuses with: the run is not one to vouch for.
type RefusedError struct{ Report Report }

// Error names what was found.
func (e *RefusedError) Error() string {
	lines := []string{"the run is not signed, because it can not be vouched for:"}
	for _, p := range e.Report.Problems {
		lines = append(lines, p.String())
	}
	for _, c := range e.Report.Checks {
		if c.Outcome == Unseen {
			lines = append(lines, c.Check+": not checked: "+c.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// SignOptions of Sign.
type SignOptions struct {
	// ChecksFor makes the checks that judge again before it is signed.
	ChecksFor evidence.ChecksFor
	// Replace an earlier attestation; without it that is evidence.ErrAttested.
	Replace bool
	Clock   func() time.Time // time.Now
	Tell    func(format string, args ...any)
}

// Sign attests the run in dir and stores the attestation with it. The run may
// be interrupted: the statement says so. A run that was changed since it was
// written, or of which a verdict is not reached again, is refused: RefusedError.
// One that is being written is refused too: evidence.ErrLocked.
func Sign(ctx context.Context, dir string, signer Signer, o SignOptions) (Statement, error) {
	return signChecked(dir, o, func(payload []byte) error {
		line, err := seal(ctx, payload, signer)
		if err != nil {
			return err
		}
		return evidence.Attach(dir, line, o.Replace)
	})
}

// SignKeyless is Sign with an identity instead of a key. The attestation is a Sigstore bundle,
// which it returns: it is stored beside the run, not with it.
func SignKeyless(ctx context.Context, dir string, service keyless.Service, o SignOptions) (Statement, []byte, error) {
	var bundle []byte
	s, err := signChecked(dir, o, func(payload []byte) (err error) {
		bundle, err = service.Sign(ctx, PayloadType, payload)
		return err
	})
	return s, bundle, err
}

// signChecked checks the run in dir, and hands its statement, encoded, to sign.
func signChecked(dir string, o SignOptions, sign func(payload []byte) error) (Statement, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	f := newFound()
	for _, name := range []string{CheckArchive, CheckEnvelope, CheckSignature, CheckSchema, CheckSubject, CheckStatement, CheckExpected} {
		f.settle(name, None, "nothing is signed yet")
	}
	i := inspection{found: f, dir: dir, signing: true, checksFor: o.ChecksFor, tell: o.Tell}
	if i.tell == nil {
		i.tell = func(string, ...any) {}
	}
	var s Statement
	err := evidence.Quiet(dir, func() error {
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

// errChanged is of a run that was written to between the check and the signature.
var errChanged = errors.New("the run was changed while it was checked: sign it again")

// attested signs the statement that was checked, and only while the run is still the one
// that was checked: the statement has the digest of every file.
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
		return Statement{}, fmt.Errorf("the run's statement does not keep to its own schema: %s", strings.Join(problems, "; "))
	}
	return s, sign(payload)
}
