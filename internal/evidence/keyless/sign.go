package keyless

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// requestTimeout bounds each request to Fulcio and Rekor.
const requestTimeout = time.Minute

// Service is where an identity signs.
type Service struct {
	// Fulcio and Rekor are their URLs.
	Fulcio, Rekor string
	// Token is the OpenID Connect identity token, whose audience is Fulcio's (sigstore).
	Token string
}

// Sign returns a bundle of the payload, in JSON. Rekor keeps the signature, the certificate and
// the digests of the envelope, publicly readable.
func (s Service) Sign(ctx context.Context, payloadType string, payload []byte) ([]byte, error) {
	fulcio, err := confidential(s.Fulcio)
	if err != nil {
		return nil, fmt.Errorf("sign with an identity: Fulcio: %w", err)
	}
	key, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		return nil, fmt.Errorf("sign with an identity: %w", err)
	}
	transport := origin.Pin(fulcio, &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true})
	made, err := sign.Bundle(&sign.DSSEData{Data: payload, PayloadType: payloadType}, key, sign.BundleOptions{
		Context:                    ctx,
		CertificateProvider:        sign.NewFulcio(&sign.FulcioOptions{BaseURL: s.Fulcio, Timeout: requestTimeout, Transport: transport}),
		CertificateProviderOptions: &sign.CertificateProviderOptions{IDToken: s.Token},
		TransparencyLogs:           []sign.Transparency{sign.NewRekor(&sign.RekorOptions{BaseURL: s.Rekor, Timeout: requestTimeout})},
	})
	if err != nil {
		return nil, fmt.Errorf("sign with an identity: %w", err)
	}
	raw, err := protojson.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("encode the bundle: %w", err)
	}
	return append(raw, '\n'), nil
}

// confidential is an address that a token may be sent to.
func confidential(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("invalid address %q: must be an https URL", address)
	}
	if u.Scheme != "https" && !origin.Loopback(u.Host) {
		return nil, fmt.Errorf("%s: %w: use an https address", u.Redacted(), origin.ErrPlainHTTP)
	}
	return u, nil
}
