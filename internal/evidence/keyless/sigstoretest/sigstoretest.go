// Package sigstoretest serves a Fulcio and a Rekor of their own for tests. Its log is that of
// sigstore-go's virtual Sigstore.
package sigstoretest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-openapi/runtime"
	"github.com/go-openapi/strfmt"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	_ "github.com/sigstore/rekor/pkg/types/dsse/v0.0.1" // the kind of entry that is logged
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
	"github.com/sigstore/sigstore-go/pkg/tlog"

	"github.com/firstlight/firstlight/internal/evidence/keyless"
)

// Issuer is who says who the identity is.
const Issuer = "https://issuer.example.com"

// Sigstore is a Sigstore instance that is served until the test ends.
type Sigstore struct {
	keyless.Service
	// Root is its trusted root. RootWithCT has an empty certificate transparency log in
	// addition.
	Root, RootWithCT []byte

	t               *testing.T
	identity        string
	log             *ca.VirtualSigstore
	intermediate    *x509.Certificate
	intermediateKey *ecdsa.PrivateKey
}

// Start serves a Sigstore whose Fulcio certifies this identity, an e-mail address.
func Start(t *testing.T, identity string) *Sigstore {
	t.Helper()
	s := &Sigstore{t: t, identity: identity}
	var err error
	if s.log, err = ca.NewVirtualSigstore(); err != nil {
		t.Fatal(err)
	}
	top, topKey, err := ca.GenerateRootCa()
	if err != nil {
		t.Fatal(err)
	}
	if s.intermediate, s.intermediateKey, err = ca.GenerateFulcioIntermediate(top, topKey); err != nil {
		t.Fatal(err)
	}
	fulcio := &root.FulcioCertificateAuthority{
		Root: top, Intermediates: []*x509.Certificate{s.intermediate},
		ValidityPeriodStart: time.Now().Add(-time.Hour), ValidityPeriodEnd: time.Now().Add(time.Hour), URI: "https://fulcio.example.com",
	}
	s.Root, s.RootWithCT = s.root(fulcio, nil), s.root(fulcio, s.log.CTLogs())
	s.Token = "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"email":"`+identity+`","email_verified":true}`)) + ".c2ln"
	s.Fulcio, s.Rekor = s.serve("POST /api/v2/signingCert", s.certify), s.serve("POST /api/v1/log/entries", s.enter)
	return s
}

func (s *Sigstore) serve(pattern string, handler func(*http.Request) (any, error)) string {
	mux := http.NewServeMux()
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		answer, err := handler(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if entries, ok := answer.(models.LogEntry); ok {
			for id := range entries {
				w.Header().Set("ETag", id)
			}
			w.WriteHeader(http.StatusCreated)
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	server := httptest.NewServer(mux)
	s.t.Cleanup(server.Close)
	return server.URL
}

// root is a trusted root in JSON.
func (s *Sigstore) root(fulcio root.CertificateAuthority, ctLogs map[string]*root.TransparencyLog) []byte {
	s.t.Helper()
	logs := s.log.RekorLogs()
	for _, of := range []map[string]*root.TransparencyLog{logs, ctLogs} {
		for id, l := range of { // the virtual one has the hex of its ID there
			raw, err := hex.DecodeString(id)
			if err != nil {
				s.t.Fatal(err)
			}
			l.ID = raw
		}
	}
	r, err := root.NewTrustedRoot(root.TrustedRootMediaType01, []root.CertificateAuthority{fulcio}, ctLogs, nil, logs)
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := r.MarshalJSON()
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// theirs is a key of which only the public half is here.
type theirs struct {
	crypto.Signer
	public crypto.PublicKey
}

func (k theirs) Public() crypto.PublicKey { return k.public }

// certify is Fulcio.
func (s *Sigstore) certify(r *http.Request) (any, error) {
	var request struct {
		PublicKeyRequest struct {
			PublicKey struct {
				Content string `json:"content"`
			} `json:"publicKey"`
		} `json:"publicKeyRequest"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, err
	}
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		return nil, http.ErrNoCookie
	}
	block, _ := pem.Decode([]byte(request.PublicKeyRequest.PublicKey.Content))
	if block == nil {
		return nil, x509.ErrUnsupportedAlgorithm
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	leaf, err := ca.GenerateLeafCert(s.identity, Issuer, time.Now().Add(-time.Minute), theirs{public: public}, s.intermediate, s.intermediateKey)
	if err != nil {
		return nil, err
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw}))
	return map[string]any{"signedCertificateEmbeddedSct": map[string]any{"chain": map[string]any{"certificates": []string{text}}}}, nil
}

// enter is Rekor.
func (s *Sigstore) enter(r *http.Request) (any, error) {
	proposed, err := models.UnmarshalProposedEntry(r.Body, runtime.JSONConsumer())
	if err != nil {
		return nil, err
	}
	entry, err := types.CreateVersionedEntry(proposed)
	if err != nil {
		return nil, err
	}
	body, err := types.CanonicalizeEntry(r.Context(), entry)
	if err != nil {
		return nil, err
	}
	id, err := s.log.RekorLogID()
	if err != nil {
		return nil, err
	}
	encoded, at, index := base64.StdEncoding.EncodeToString(body), time.Now().Unix(), int64(0)
	promise, err := s.log.RekorSignPayload(tlog.RekorPayload{Body: encoded, IntegratedTime: at, LogIndex: index, LogID: id})
	if err != nil {
		return nil, err
	}
	proof, err := s.log.GetInclusionProof(body)
	if err != nil {
		return nil, err
	}
	return models.LogEntry{"1": models.LogEntryAnon{
		Body: encoded, IntegratedTime: &at, LogID: &id, LogIndex: &index,
		Verification: &models.LogEntryAnonVerification{InclusionProof: proof, SignedEntryTimestamp: strfmt.Base64(promise)},
	}}, nil
}
