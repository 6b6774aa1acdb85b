package prom

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func connect(t *testing.T, e Endpoint) *Client {
	t.Helper()
	c, err := Connect(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestQueryHasTimeAndToken(t *testing.T) {
	t.Parallel()
	var query, token string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, token = r.URL.RawQuery, r.Header.Get("Authorization")
		io.WriteString(w, gpuUtil) //nolint:errcheck // a test server
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Prometheus{Client: connect(t, Endpoint{URL: server.URL + "/", BearerTokenFile: file, PlainHTTP: true})}
	samples, raw, err := p.Query(t.Context(), "up", time.UnixMilli(1500))
	if err != nil || len(samples) != 1 || len(raw) == 0 {
		t.Fatal(samples, err)
	}
	if query != "query=up&time=1970-01-01T00%3A00%3A01.5Z" || token != "Bearer s3cret" {
		t.Error(query, token)
	}
}

func TestErrorsQuoteTheResponseWithoutSecrets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "upstream  connect\nerror "+strings.Repeat("x", 1000), http.StatusBadGateway)
	}))
	t.Cleanup(server.Close)
	p := Prometheus{Client: connect(t, Endpoint{URL: server.URL})}
	_, _, err := p.Query(t.Context(), "up", time.Time{})
	if err == nil || !strings.Contains(err.Error(), "502 Bad Gateway: upstream connect error x") || len(err.Error()) > 600 {
		t.Error(err)
	}
	gone := Prometheus{Client: connect(t, Endpoint{URL: "http://127.0.0.1:1"})}
	_, _, err = gone.Query(t.Context(), "up", time.Time{})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Error(err)
	}
}

func TestPostHandsTheAlertIn(t *testing.T) {
	t.Parallel()
	var got []Alert
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v2/alerts" || json.NewDecoder(r.Body).Decode(&got) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	am := Alertmanager{connect(t, Endpoint{URL: server.URL})}
	if err := am.Post(t.Context(), Alert{Labels: map[string]string{"alertname": "A"}}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Labels["alertname"] != "A" {
		t.Errorf("%+v", got)
	}
}

func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	notPEM := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(notPEM, []byte("no"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]Endpoint{
		"no address":               {},
		"a service and no cluster": {Service: "monitoring/prometheus:9090"},
		"a missing CA":             {URL: "https://a", CAFile: "/nonexistent"},
		"an invalid CA":            {URL: "https://a", CAFile: notPEM},
		"a certificate alone":      {URL: "https://a", CertFile: notPEM},
		"a missing token":          {URL: "https://a", BearerTokenFile: "/nonexistent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Connect(e, nil); err == nil {
				t.Error("accepted")
			}
		})
	}
}
