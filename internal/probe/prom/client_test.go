package prom

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
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

// VictoriaMetrics answers queries as of 30 s ago, with the current time: the newest samples looked 30 s older than they
// are (its issues 272 and 1390; -search.latencyOffset, latency_offset of a query). Its answers have stats.seriesFetched.
// Google's API refuses arguments that it does not know, so only VictoriaMetrics gets the argument.
func TestVictoriaMetricsIsQueriedWithoutDelay(t *testing.T) {
	t.Parallel()
	const stats = `,"stats":{"seriesFetched": "2","executionTimeMsec":1}`
	for name, tt := range map[string]struct {
		stats  string
		status int // of a query with the argument
		value  float64
		sent   []string
		fails  bool
	}{
		"VictoriaMetrics":         {stats, 200, 1773114089, []string{"", "1ms", "1ms"}, false},
		"Prometheus":              {"", 200, 1773114055, []string{"", ""}, false},
		"stats of Prometheus":     {`,"stats":{"timings":{"evalTotalTime":0.1},"samples":{"totalQueryableSamples":2}}`, 200, 1773114055, []string{"", ""}, false},
		"a proxy that refuses it": {stats, 400, 0, []string{"", "1ms", "1ms"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				offset := r.URL.Query().Get("latency_offset")
				sent = append(sent, offset)
				value := "1773114055"
				if offset != "" {
					value = "1773114089"
					w.WriteHeader(tt.status)
				}
				io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"gpu":"0"},"value":[1773114090,"`+value+`"]}]}`+tt.stats+`}`) //nolint:errcheck // a test server
			}))
			t.Cleanup(server.Close)
			p := Prometheus{Client: connect(t, Endpoint{URL: server.URL})}
			for range 2 {
				samples, _, err := p.Query(t.Context(), "timestamp(up)", time.Time{})
				if (err != nil) != tt.fails || !tt.fails && (len(samples) != 1 || samples[0].Value != tt.value) {
					t.Errorf("%+v, %v, want %g", samples, err, tt.value)
				}
			}
			if !slices.Equal(sent, tt.sent) {
				t.Errorf("latency_offset of the queries %q, want %q", sent, tt.sent)
			}
		})
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

// Thanos Querier, Mimir and Amazon's managed Prometheus have no /api/v1/alertmanagers and answer 404; VictoriaMetrics
// answers 400 (Errorf in lib/httpserver).
func TestAPathThatIsNotServed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"404":                      {404, "404 page not found\n", true},
		"405":                      {405, "", true},
		"VictoriaMetrics":          {400, `remoteAddr: "10.0.0.7:51234"; requestURI: /api/v1/alertmanagers; unsupported path requested: "/api/v1/alertmanagers"`, true},
		"another error of clients": {400, `{"status":"error","errorType":"bad_data","error":"invalid"}`, false},
		"not permitted":            {403, "RBAC: access denied", false},
		"not available":            {503, "no endpoints available for service", false},
		"an answer":                {200, `{"status":"success","data":{"activeAlertmanagers":[]}}`, false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body) //nolint:errcheck // a test server
		}))
		t.Cleanup(server.Close)
		_, _, err := (Prometheus{Client: connect(t, Endpoint{URL: server.URL})}).Alertmanagers(t.Context())
		if got := errors.Is(err, ErrNotServed); got != tt.want || (err == nil) != (tt.status == 200) {
			t.Errorf("%s: %t, want %t: %v", name, got, tt.want, err)
		}
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
