package prom

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/site"
)

func fileWith(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRequestsCarryPasswordAndHeaders(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		got = append(got, fmt.Sprintf("%s:%s %s %s", user, password, r.Header.Get("X-Scope-OrgID"), r.Header.Get("X-Api-Key")))
		io.WriteString(w, gpuUtil) //nolint:errcheck // a test server
	}))
	t.Cleanup(server.Close)
	p := Prometheus{Client: connect(t, Endpoint{
		URL: server.URL, PlainHTTP: true, BasicAuth: &site.BasicAuth{User: "ops", PasswordFile: fileWith(t, "s3cret\n")},
		Headers: map[string]site.Header{"X-Scope-OrgID": {Value: "team-a"}, "X-Api-Key": {ValueFile: fileWith(t, "k3y\n")}},
	})}
	for range 2 {
		if _, _, err := p.Query(t.Context(), "up", time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || got[0] != "ops:s3cret team-a k3y" || got[1] != got[0] {
		t.Error(got)
	}
}

func TestConnectRefusesUnusableCredentials(t *testing.T) {
	t.Parallel()
	const leak = "first-line-of-a-secret"
	lines, empty := fileWith(t, leak+"\nsecond"), fileWith(t, " \n")
	for name, e := range map[string]Endpoint{
		"a password of two lines": {URL: "https://a", BasicAuth: &site.BasicAuth{User: "u", PasswordFile: lines}},
		"an empty password":       {URL: "https://a", BasicAuth: &site.BasicAuth{User: "u", PasswordFile: empty}},
		"an empty token":          {URL: "https://a", BearerTokenFile: empty},
		"a header of two lines":   {URL: "https://a", Headers: map[string]site.Header{"X-Key": {ValueFile: lines}}},
		"a missing header file":   {URL: "https://a", Headers: map[string]site.Header{"X-Key": {ValueFile: "/nonexistent"}}},
		"a password over http":    {URL: "http://a", BasicAuth: &site.BasicAuth{User: "u", PasswordFile: empty}},
		"a signature over http":   {URL: "http://a", SigV4: &site.SigV4{Region: "r"}},
		"a secret header by http": {URL: "http://a", Headers: map[string]site.Header{"X-Key": {ValueFile: lines}}},
		"a password of a service": {Service: "monitoring/prometheus:9090", BasicAuth: &site.BasicAuth{User: "u", PasswordFile: empty}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Connect(e, nil); err == nil || strings.Contains(err.Error(), leak) || strings.Contains(err.Error(), "no cluster given") {
				t.Error(err)
			}
		})
	}
}

func TestMatchersAreAddedToEverySelector(t *testing.T) {
	t.Parallel()
	p, err := ConnectPrometheus(Endpoint{URL: "https://a"}, map[string]string{"cluster": `pr"od`, "region": "eu"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const both = `cluster="pr\"od",region="eu"`
	for expr, want := range map[string]string{
		"up":                     "up{" + both + "}",
		`timestamp(up{job="a"})`: `timestamp(up{cluster="pr\"od",job="a",region="eu"})`,
		"max by (host) (max_over_time(timestamp(up)[60s:1s]))": "max by (host) (max_over_time(timestamp(up{" + both + "})[1m:1s]))",
		"a / on (x) sum(rate(b[5m] offset 1m))":                "a{" + both + "} / on (x) sum(rate(b{" + both + "}[5m] offset 1m))",
		`{__name__=~"a|b"}`:                                    `{__name__=~"a|b",` + both + `}`,
		`sum("up{}" == bool 1)`:                                "",
		"vector(time())":                                       "vector(time())",
	} {
		got, err := p.narrow(expr)
		if (err != nil) != (want == "") || got != want {
			t.Errorf("%s: %s, %v; want %s", expr, got, err, want)
		}
	}
	if got := p.All().Expr("up"); got != "up" {
		t.Error(got)
	}
}
