package attest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
	"github.com/firstlight/firstlight/internal/evidence/keyless"
	"github.com/firstlight/firstlight/internal/evidence/keyless/sigstoretest"
)

// A run signed by an identity verifies only with the bundle of that identity. It gets every
// check that a run signed by a key gets.
func TestARunThatAnIdentitySigned(t *testing.T) {
	t.Parallel()
	const identity = "acceptance@example.com"
	sigstore, dir := sigstoretest.Start(t, identity), evidencetest.Finished(t)
	s, bundle, err := SignKeyless(t.Context(), dir, sigstore.Service, SignOptions{ChecksFor: evidencetest.ChecksFor, Clock: later})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := evidence.Attestation(dir); err == nil {
		t.Error("something was stored with the run")
	}
	look := func(dir, identity string, bundle []byte) Report {
		t.Helper()
		trust, err := keyless.NewTrust(sigstore.Root, identity, sigstoretest.Issuer)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), dir, Options{Bundle: bundle, Trust: trust, ChecksFor: evidencetest.ChecksFor})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := look(dir, identity, bundle)
	if r.Outcome() != OK || r.SignedBy != identity || r.Run != s.Predicate.Run || len(r.Checks) != len(order) {
		t.Fatalf("%+v\n%s", r, r)
	}
	sign(t, dir) // with a key as well
	if r := look(dir, identity, bundle); r.Outcome() != OK || r.SignedBy != identity {
		t.Errorf("with an attestation signed by a key as well: %s", r)
	}
	if r := look(dir, "mallory@example.com", bundle); r.Outcome() != Wrong || r.SignedBy != "" || r.Problems[0].Check != CheckSignature {
		t.Errorf("as of another identity: %s", r)
	}
	if r := look(evidencetest.Interrupted(t), identity, bundle); r.Outcome() != Wrong {
		t.Errorf("of another run: %s", r)
	}
	if r := look(dir, identity, []byte("{}")); r.Outcome() != Wrong || r.Problems[0].Check != CheckEnvelope {
		t.Errorf("no bundle: %s", r)
	}
	other, err := sigstore.Sign(t.Context(), "application/json", []byte(`{"_type":"https://in-toto.io/Statement/v1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if r := look(dir, identity, other); r.Outcome() != Wrong || r.Problems[0].Check != CheckEnvelope {
		t.Errorf("of something else: %s", r)
	}
	said, err := json.Marshal(func() Statement { s := s; s.Predicate.Run = "another"; return s }())
	if err != nil {
		t.Fatal(err)
	}
	forged, err := sigstore.Sign(t.Context(), PayloadType, said)
	if err != nil {
		t.Fatal(err)
	}
	if r := look(dir, identity, forged); r.Outcome() != Wrong || r.SignedBy != identity {
		t.Errorf("the identity's signature over what the run does not say: %s", r)
	}
	swap(t, dir, "site.yaml", "lab", "another")
	if r := look(dir, identity, bundle); r.Outcome() != Wrong {
		t.Errorf("a run that was changed: %s", r)
	}
}

// A run that cannot be vouched for is not signed by an identity either, and Rekor is not asked.
func TestKeylessRefusesAsSignDoes(t *testing.T) {
	t.Parallel()
	sigstore, dir := sigstoretest.Start(t, "a@example.com"), evidencetest.Finished(t)
	if err := os.Remove(filepath.Join(dir, "site.yaml")); err != nil {
		t.Fatal(err)
	}
	_, bundle, err := SignKeyless(t.Context(), dir, sigstore.Service, SignOptions{ChecksFor: evidencetest.ChecksFor, Clock: later})
	if err == nil || bundle != nil {
		t.Errorf("signed: %v", err)
	}
}
