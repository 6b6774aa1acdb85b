package telemetry_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go/aws/credentials"
	v4 "github.com/aws/aws-sdk-go/aws/signer/v4"

	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	accessKey, secretKey = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	password             = "s3cret"
)

// proxied is a way to authenticate at a proxy in front of Prometheus and Alertmanager.
type proxied struct {
	// admits decides as the proxy of a provider does; body is the request's.
	admits func(r *http.Request, body []byte) error
	// right and wrong set credentials of the site that are admitted and that are not.
	right, wrong func(*site.Endpoint)
}

// credentialsOfProxies are the ways by name. Signatures are checked by version 1 of AWS' SDK, whose
// signer has another origin than that of firstlight.
func credentialsOfProxies(t *testing.T) map[string]proxied {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, bad := file("good", password+"\n"), file("bad", "wrong\n")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file("aws", fmt.Sprintf(
		"[good]\naws_access_key_id = %[1]s\naws_secret_access_key = %[2]s\n[bad]\naws_access_key_id = %[1]s\naws_secret_access_key = other\n", accessKey, secretKey)))
	basic := func(file string) func(*site.Endpoint) {
		return func(e *site.Endpoint) { e.BasicAuth = &site.BasicAuth{User: "ops", PasswordFile: file} }
	}
	token := func(file string) func(*site.Endpoint) { return func(e *site.Endpoint) { e.BearerTokenFile = file } }
	tenant := func(id, key string) func(*site.Endpoint) {
		return func(e *site.Endpoint) {
			e.Headers = map[string]site.Header{"X-Scope-OrgID": {Value: id}, "X-Api-Key": {ValueFile: key}}
		}
	}
	sign := func(profile string) func(*site.Endpoint) {
		return func(e *site.Endpoint) { e.SigV4 = &site.SigV4{Region: "eu-west-1", Profile: profile} }
	}
	return map[string]proxied{
		"BasicAuth": {func(r *http.Request, _ []byte) error {
			user, given, _ := r.BasicAuth()
			return equal(user+":"+given, "ops:"+password)
		}, basic(good), basic(bad)},
		"BearerToken": {func(r *http.Request, _ []byte) error { return equal(r.Header.Get("Authorization"), "Bearer "+password) }, token(good), token(bad)},
		"Tenant": {func(r *http.Request, _ []byte) error {
			return equal(r.Header.Get("X-Scope-OrgID")+" "+r.Header.Get("X-Api-Key"), "team-a "+password)
		}, tenant("team-a", good), tenant("team-b", good)},
		"SigV4": {signedFor("eu-west-1", "aps"), sign("good"), sign("bad")},
	}
}

func equal(got, want string) error {
	if got != want {
		return fmt.Errorf("unexpected credentials %q", got)
	}
	return nil
}

// signedFor signs the request again, with the headers that it says it signed, and compares.
func signedFor(region, service string) func(*http.Request, []byte) error {
	return func(r *http.Request, body []byte) error {
		given := r.Header.Get("Authorization")
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || time.Since(at).Abs() > 5*time.Minute {
			return fmt.Errorf("signed at %q", r.Header.Get("X-Amz-Date"))
		}
		_, list, _ := strings.Cut(given, "SignedHeaders=")
		list, _, _ = strings.Cut(list, ",")
		u := *r.URL
		u.Scheme, u.Host = "https", r.Host
		again, err := http.NewRequestWithContext(r.Context(), r.Method, u.String(), nil)
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(list, ";") {
			switch name {
			case "host":
			case "content-length": // net/http keeps it out of the headers
				again.Header.Set(name, strconv.Itoa(len(body)))
			default:
				again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
			}
		}
		if _, err := v4.NewSigner(credentials.NewStaticCredentials(accessKey, secretKey, "")).Sign(again, bytes.NewReader(body), service, region, at); err != nil {
			return err
		}
		return equal(given, again.Header.Get("Authorization"))
	}
}

// testCredentials queries the lab's Prometheus and posts to its Alertmanager through proxies that
// demand credentials.
func testCredentials(t *testing.T, l *labtest.Lab, c proxied) {
	prometheus, alertmanager := behind(t, l.Site.Reach.Prometheus, c), behind(t, l.Site.Reach.Alertmanager, c)
	use := func(t *testing.T, with func(*site.Endpoint)) (query, post error) {
		t.Helper()
		e := prometheus
		with(&e)
		p, err := prom.ConnectPrometheus(e, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		series, _, query := p.Query(t.Context(), telemetry.Metric+`{gpu="0"}`, time.Time{})
		if query == nil && len(series) != 2 {
			t.Errorf("%d series of 2 nodes", len(series))
		}
		e = alertmanager
		with(&e)
		client, err := prom.Connect(e, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		am := prom.Alertmanager{Client: client}
		label := t.Name()
		if post = am.Post(t.Context(), prom.Alert{Labels: map[string]string{"alertname": "A", "test": label}, StartsAt: time.Now(), EndsAt: time.Now().Add(time.Minute)}); post == nil {
			if found, _, err := am.Alerts(t.Context(), "test", label); err != nil || len(found) != 1 {
				t.Errorf("alerts %+v, %v", found, err)
			}
		}
		return query, post
	}
	if query, post := use(t, c.right); query != nil || post != nil {
		t.Errorf("admitted credentials: %v, %v", query, post)
	}
	query, post := use(t, c.wrong)
	for _, err := range []error{query, post} {
		if err == nil || !strings.Contains(err.Error(), "401 Unauthorized") || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), secretKey) {
			t.Errorf("other credentials: %v", err)
		}
	}
	if query, post := use(t, func(*site.Endpoint) {}); query == nil || post == nil {
		t.Errorf("no credentials: %v, %v", query, post)
	}
}

// behind is the address of a proxy with TLS in front of an API of the lab.
func behind(t *testing.T, e site.Endpoint, c proxied) site.Endpoint {
	t.Helper()
	target, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(e.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(e.CertFile, e.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: []tls.Certificate{pair}}}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Authorization")
	}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = c.admits(r, body)
		}
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return site.Endpoint{URL: server.URL, CAFile: caFile}
}
