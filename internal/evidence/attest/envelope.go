package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// Seal signs an encoded in-toto statement and returns its DSSE envelope on one line.
func Seal(ctx context.Context, payload []byte, signer Signer) ([]byte, error) {
	signers, err := dsse.NewEnvelopeSigner(signer)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	env, err := signers.SignPayload(ctx, PayloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	line, err := json.Marshal(env)
	if err != nil {
		return nil, fmt.Errorf("encode the envelope: %w", err)
	}
	return append(line, '\n'), nil
}

// Open returns the statement of an envelope that one of the keys signed, and that key's ID.
func Open(ctx context.Context, data []byte, keys []PublicKey) (payload []byte, keyID string, err error) {
	env, payload, err := openEnvelope(data)
	if err != nil {
		return nil, "", err
	}
	keyID, err = signedBy(ctx, env, keys)
	return payload, keyID, err
}

// openEnvelope reads an attestation with one envelope of the expected type. It does not verify.
func openEnvelope(data []byte) (env *dsse.Envelope, payload []byte, err error) {
	lines := bytes.Split(bytes.TrimRight(data, "\n"), []byte("\n"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil, errors.New("empty file")
	}
	if len(lines) > 1 {
		return nil, nil, fmt.Errorf("%d envelopes, want one", len(lines))
	}
	env = &dsse.Envelope{}
	if err := decodeStrictly(lines[0], env); err != nil {
		return nil, nil, fmt.Errorf("not a DSSE envelope: %w", err)
	}
	payload, err = payloadOf(env)
	if payload == nil {
		return nil, nil, err
	}
	return env, payload, err
}

// payloadOf returns the payload of an envelope, with an error if the type differs.
func payloadOf(env *dsse.Envelope) ([]byte, error) {
	payload, err := env.DecodeB64Payload()
	if err != nil {
		return nil, fmt.Errorf("payload is not base64: %w", err)
	}
	if env.PayloadType != PayloadType {
		return payload, fmt.Errorf("payload type is %q, want %q", env.PayloadType, PayloadType)
	}
	return payload, nil
}

// decodeStrictly decodes one JSON value without unknown keys or trailing data.
func decodeStrictly(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the end")
	}
	return nil
}

// signedBy returns the given key that signed the envelope.
func signedBy(ctx context.Context, env *dsse.Envelope, keys []PublicKey) (string, error) {
	verifiers := make([]dsse.Verifier, len(keys))
	for i, k := range keys {
		verifiers[i] = k
	}
	v, err := dsse.NewEnvelopeVerifier(verifiers...)
	if err != nil {
		return "", fmt.Errorf("verify the signature: %w", err)
	}
	accepted, err := v.Verify(ctx, env)
	if err != nil {
		return "", fmt.Errorf("no signature of a given key (the envelope names %s): %w", keyIDs(env), err)
	}
	return accepted[0].KeyID, nil
}

// keyIDs are the key IDs of an envelope.
func keyIDs(env *dsse.Envelope) string {
	var names []string
	for _, s := range env.Signatures {
		names = append(names, fmt.Sprintf("%q", s.KeyID))
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}
