package keyless_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence/keyless"
	"github.com/firstlight/firstlight/internal/evidence/keyless/sigstoretest"
	"github.com/firstlight/firstlight/internal/probe/origin"
)

const (
	identity    = "acceptance@example.com"
	payloadType = "application/vnd.in-toto+json"
)

// statement is an in-toto statement about a run.
func statement(run string) string {
	return `{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"` + run + `","digest":{"sha256":"00"}}],"predicateType":"https://example.com/v1","predicate":{}}`
}

func signed(t *testing.T, s *sigstoretest.Sigstore, run string) []byte {
	t.Helper()
	data, err := s.Sign(t.Context(), payloadType, []byte(statement(run)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// change alters a bundle's JSON.
func change(t *testing.T, data []byte, alter func(map[string]any)) []byte {
	t.Helper()
	var b map[string]any
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	alter(b)
	out, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestABundleVerifiesOffline(t *testing.T) {
	t.Parallel()
	s := sigstoretest.Start(t, identity)
	b, err := keyless.Open(signed(t, s, "run:a"))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := b.Envelope().DecodeB64Payload()
	if err != nil || string(payload) != statement("run:a") || b.Envelope().PayloadType != payloadType {
		t.Errorf("it holds %s %q, %v", b.Envelope().PayloadType, payload, err)
	}
	trust, err := keyless.NewTrust(s.Root, identity, sigstoretest.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	by, err := b.Verify(trust)
	if err != nil || by.Identity != identity || by.Issuer != sigstoretest.Issuer || by.At.IsZero() {
		t.Errorf("signed by %+v, %v", by, err)
	}
}

// Each case differs from the accepted bundle in one point and is refused.
func TestABundleIsRefused(t *testing.T) {
	t.Parallel()
	s, other := sigstoretest.Start(t, identity), sigstoretest.Start(t, identity)
	good, another := signed(t, s, "run:a"), signed(t, s, "run:b")
	material := func(b map[string]any) map[string]any { return b["verificationMaterial"].(map[string]any) }
	for name, c := range map[string]struct {
		bundle           []byte
		root             []byte
		identity, issuer string
		want             string // empty: accepted
	}{
		"as it is":               {good, s.Root, identity, sigstoretest.Issuer, ""},
		"another identity":       {good, s.Root, "mallory@example.com", sigstoretest.Issuer, "expected SAN value"},
		"a part of the identity": {good, s.Root, "acceptance@example", sigstoretest.Issuer, "expected SAN value"},
		"another issuer":         {good, s.Root, identity, "https://issuer.example.net", "expected issuer value"},
		"another Sigstore":       {good, other.Root, identity, sigstoretest.Issuer, "not enough verified log entries"},
		"another authority": {good, change(t, s.Root, func(r map[string]any) {
			var of map[string]any
			if err := json.Unmarshal(other.Root, &of); err != nil {
				t.Fatal(err)
			}
			r["certificateAuthorities"] = of["certificateAuthorities"]
		}), identity, sigstoretest.Issuer, "certificate"},
		"no transparency of certificates": {good, s.RootWithCT, identity, sigstoretest.Issuer, "signed certificate timestamp"},
		"another payload": {change(t, good, func(b map[string]any) {
			var of map[string]any
			if err := json.Unmarshal(another, &of); err != nil {
				t.Fatal(err)
			}
			b["dsseEnvelope"].(map[string]any)["payload"] = of["dsseEnvelope"].(map[string]any)["payload"]
		}), s.Root, identity, sigstoretest.Issuer, "could not verify envelope"},
		"another's envelope": {change(t, good, func(b map[string]any) {
			var of map[string]any
			if err := json.Unmarshal(another, &of); err != nil {
				t.Fatal(err)
			}
			b["dsseEnvelope"] = of["dsseEnvelope"]
		}), s.Root, identity, sigstoretest.Issuer, "signature does not match"},
		"not in a log": {change(t, good, func(b map[string]any) { delete(material(b), "tlogEntries") }), s.Root, identity, sigstoretest.Issuer, "not enough verified log entries"},
		"no proof and no promise of the log": {change(t, good, func(b map[string]any) {
			entry := material(b)["tlogEntries"].([]any)[0].(map[string]any)
			delete(entry, "inclusionProof")
			delete(entry, "inclusionPromise")
		}), s.Root, identity, sigstoretest.Issuer, "inclusion"},
		"another time of the log": {change(t, good, func(b map[string]any) {
			material(b)["tlogEntries"].([]any)[0].(map[string]any)["integratedTime"] = "1500000000"
		}), s.Root, identity, sigstoretest.Issuer, "not enough verified log entries"},
	} {
		trust, err := keyless.NewTrust(c.root, c.identity, c.issuer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := keyless.Open(c.bundle)
		if err == nil {
			_, err = b.Verify(trust)
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, data := range map[string][]byte{
		"no JSON": []byte("bundle"), "empty": nil, "another document": []byte(`{"a":1}`),
		"without an envelope": change(t, good, func(b map[string]any) { delete(b, "dsseEnvelope") }),
	} {
		if _, err := keyless.Open(data); err == nil {
			t.Errorf("%s is a bundle", name)
		}
	}
}

func TestTrustNeedsIdentityIssuerAndRoot(t *testing.T) {
	t.Parallel()
	s := sigstoretest.Start(t, identity)
	for name, c := range map[string]struct {
		root             []byte
		identity, issuer string
	}{
		"no identity": {s.Root, "", sigstoretest.Issuer}, "no issuer": {s.Root, identity, ""},
		"no root": {nil, identity, sigstoretest.Issuer}, "another document": {[]byte(`{"a":1}`), identity, sigstoretest.Issuer},
	} {
		if _, err := keyless.NewTrust(c.root, c.identity, c.issuer); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// An identity token is sent to the Fulcio that was named: not in clear, and not where it leads.
func TestTheTokenIsSentToFulcioOnly(t *testing.T) {
	t.Parallel()
	s := sigstoretest.Start(t, identity)
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(elsewhere.Close)
	leads := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(leads.Close)
	for name, c := range map[string]struct {
		fulcio string
		want   string
	}{
		"a redirect":     {leads.URL, origin.ErrOtherOrigin.Error()},
		"plain http":     {"http://fulcio.example.com", origin.ErrPlainHTTP.Error()},
		"another scheme": {"ftp://fulcio.example.com", "must be an https URL"},
		"no address":     {"", "must be an https URL"},
	} {
		service := s.Service
		service.Fulcio = c.fulcio
		if _, err := service.Sign(t.Context(), payloadType, []byte("{}")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if asked != 0 {
		t.Errorf("the other host was asked %d times", asked)
	}
	service := s.Service
	service.Token = "e30.e30.e30"
	if _, err := service.Sign(t.Context(), payloadType, []byte("{}")); err == nil || errors.Is(err, origin.ErrOtherOrigin) {
		t.Errorf("a token without a subject: %v", err)
	}
}
