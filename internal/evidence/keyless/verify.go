package keyless

import (
	"errors"
	"fmt"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// Trust is what a verifier accepts.
type Trust struct {
	root *root.TrustedRoot
	// Identity is the subject alternative name of the certificate (an e-mail address, the URI of
	// a workflow); Issuer is the OpenID Connect issuer that attests it. Both must match exactly.
	Identity, Issuer string
}

// NewTrust reads a trusted root, as Sigstore's TUF repository and cosign trusted-root create have
// it (trusted_root.json).
func NewTrust(trustedRoot []byte, identity, issuer string) (*Trust, error) {
	if identity == "" || issuer == "" {
		return nil, errors.New("identity and issuer are required: without them the signature of any identity is accepted")
	}
	r, err := root.NewTrustedRootFromJSON(trustedRoot)
	if err != nil {
		return nil, fmt.Errorf("read the trusted root: %w", err)
	}
	return &Trust{root: r, Identity: identity, Issuer: issuer}, nil
}

// Bundle is a Sigstore bundle that holds a DSSE envelope.
type Bundle struct {
	bundle   *bundle.Bundle
	envelope *dsse.Envelope
}

// Open reads a bundle. It does not verify.
func Open(data []byte) (*Bundle, error) {
	b := &bundle.Bundle{}
	if err := b.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("not a Sigstore bundle: %w", err)
	}
	envelope, err := b.Envelope()
	if err != nil {
		return nil, fmt.Errorf("its signature is not of a DSSE envelope: %w", err)
	}
	return &Bundle{bundle: b, envelope: envelope.RawEnvelope()}, nil
}

// Envelope is the envelope that is signed.
func (b *Bundle) Envelope() *dsse.Envelope { return b.envelope }

// Signed is what a verified bundle says of its signature.
type Signed struct {
	Identity, Issuer string
	// At is when the transparency log, or a timestamp authority, saw the signature.
	At time.Time
}

// Verify says who signed, when it is who is trusted.
func (b *Bundle) Verify(t *Trust) (Signed, error) {
	options := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	if len(t.root.CTLogs()) > 0 {
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	verifier, err := verify.NewVerifier(t.root, options...)
	if err != nil {
		return Signed{}, fmt.Errorf("verify the bundle: %w", err)
	}
	identity, err := verify.NewShortCertificateIdentity(t.Issuer, "", t.Identity, "")
	if err != nil {
		return Signed{}, fmt.Errorf("verify the bundle: %w", err)
	}
	// The artifact is a run: its digest in the payload is for the caller to compare.
	result, err := verifier.Verify(b.bundle, verify.NewPolicy(verify.WithoutArtifactUnsafe(), verify.WithCertificateIdentity(identity)))
	if err != nil {
		return Signed{}, fmt.Errorf("verify the bundle: %w", err)
	}
	if result.Signature == nil || result.Signature.Certificate == nil || len(result.VerifiedTimestamps) == 0 {
		return Signed{}, errors.New("verify the bundle: no certificate or no time was verified")
	}
	c := result.Signature.Certificate
	return Signed{Identity: c.SubjectAlternativeName, Issuer: c.Issuer, At: result.VerifiedTimestamps[0].Timestamp}, nil
}
