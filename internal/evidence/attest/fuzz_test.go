package attest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

// Input that opens is one envelope of our type. Input that decodes without a
// problem is byte for byte the encoding of its value.
func FuzzAttestation(f *testing.F) {
	dir := evidencetest.Finished(f)
	k, err := Generate(bytes.NewReader(make([]byte, 32)))
	if err != nil {
		f.Fatal(err)
	}
	if _, err := Sign(f.Context(), dir, k, SignOptions{ChecksFor: evidencetest.ChecksFor}); err != nil {
		f.Fatal(err)
	}
	good, err := evidence.Attestation(dir)
	if err != nil {
		f.Fatal(err)
	}
	_, payload, err := openEnvelope(good)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, payload)
	f.Add([]byte("{}\n"), []byte("{}"))
	f.Add([]byte("{}\n{}\n"), []byte(`{"_type":"https://in-toto.io/Statement/v1","_type":1}`))
	f.Add([]byte(nil), []byte("[]"))
	f.Fuzz(func(t *testing.T, line, payload []byte) {
		if env, _, err := openEnvelope(line); err == nil && env.PayloadType != PayloadType {
			t.Errorf("opened as %q", env.PayloadType)
		}
		s, problems := decodeStatement(payload)
		if len(problems) > 0 {
			return
		}
		again, err := json.Marshal(s)
		if err != nil || !bytes.Equal(again, payload) || s.Type != StatementType || s.PredicateType != PredicateType {
			t.Errorf("%s decodes to %s, %v", payload, again, err)
		}
	})
}
