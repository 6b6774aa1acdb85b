package attest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

// key makes the same key of the same letter every time.
func key(t *testing.T, letter byte) KeyPair {
	t.Helper()
	k, err := Generate(bytes.NewReader(bytes.Repeat([]byte{letter}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func later() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) }

func sign(t *testing.T, dir string) Statement {
	t.Helper()
	s, err := Sign(t.Context(), dir, key(t, 'k'), SignOptions{ChecksFor: evidencetest.ChecksFor, Clock: later})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verify(t *testing.T, dir string) Report {
	t.Helper()
	r, err := Verify(t.Context(), dir, Options{Keys: []PublicKey{key(t, 'k').Public()}, ChecksFor: evidencetest.ChecksFor})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// edit changes a file of the run.
func edit(t *testing.T, dir, name string, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(bytes.Clone(data))
	if bytes.Equal(changed, data) {
		t.Fatalf("%s was not changed", name)
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// swap changes a file by text, which must be in it.
func swap(t *testing.T, dir, name, from, to string) {
	t.Helper()
	edit(t, dir, name, func(data []byte) []byte { return bytes.Replace(data, []byte(from), []byte(to), 1) })
}

// renew rewrites the manifest, as an attacker that knows the format does.
func renew(t *testing.T, dir string) {
	t.Helper()
	m, err := evidence.Inventory(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, evidence.ManifestFileName), append(data, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// state replaces the statement and signs it, whatever it says.
func state(t *testing.T, dir string, k KeyPair, change func(*Statement)) {
	t.Helper()
	data, err := evidence.Attestation(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, payload, err := openEnvelope(data)
	if err != nil {
		t.Fatal(err)
	}
	var s Statement
	if err := json.Unmarshal(payload, &s); err != nil {
		t.Fatal(err)
	}
	change(&s)
	said, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	line, err := Seal(t.Context(), said, k)
	if err != nil {
		t.Fatal(err)
	}
	if err := evidence.Attach(dir, line, true); err != nil {
		t.Fatal(err)
	}
}

// signAgain renews the manifest and signs the changed run with the right key,
// without the checks of Sign.
func signAgain(t *testing.T, dir string) {
	t.Helper()
	renew(t, dir)
	state(t, dir, key(t, 'k'), func(s *Statement) {
		b, err := evidence.Load(dir)
		if err != nil {
			return // the statement cannot be derived: keep the old one
		}
		m, err := evidence.Stored(dir)
		if err != nil {
			t.Fatal(err)
		}
		said, err := describe(b, m)
		if err != nil {
			t.Fatal(err)
		}
		said.Predicate.Attested = s.Predicate.Attested
		*s = said
	})
}

// payload changes the bytes that are signed and keeps the signature.
func payload(t *testing.T, dir, from, to string) {
	t.Helper()
	envelope(t, dir, func(env *dsse.Envelope) {
		data, err := base64.StdEncoding.DecodeString(env.Payload)
		if err != nil {
			t.Fatal(err)
		}
		changed := bytes.Replace(data, []byte(from), []byte(to), 1)
		if bytes.Equal(changed, data) {
			t.Fatalf("the statement has no %q", from)
		}
		env.Payload = base64.StdEncoding.EncodeToString(changed)
	})
}

func envelope(t *testing.T, dir string, change func(*dsse.Envelope)) {
	t.Helper()
	edit(t, dir, evidence.AttestationFile, func(data []byte) []byte {
		var env dsse.Envelope
		if err := json.Unmarshal(data, &env); err != nil {
			t.Fatal(err)
		}
		change(&env)
		out, err := json.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		return append(out, '\n')
	})
}
