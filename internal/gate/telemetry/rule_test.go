package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A rule was ended and removed by its name, whose object could be another run's or a new one: it is that
// with the label of the run, and its UID.
func TestOnlyTheRunsOwnRuleIsEnded(t *testing.T) {
	t.Parallel()
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		query, _ := url.QueryUnescape(r.URL.RawQuery)
		requests = append(requests, fmt.Sprintf("%s %s %s", r.Method, query, body))
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"kind":"PrometheusRuleList","apiVersion":"monitoring.coreos.com/v1","items":[{"kind":"PrometheusRule","apiVersion":"monitoring.coreos.com/v1","metadata":{"name":"firstlight-alert-r1","namespace":"firstlight-r1","uid":"u-1"}}]}`) //nolint:errcheck // a test server
			return
		}
		io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Success"}`) //nolint:errcheck // a test server
	}))
	t.Cleanup(server.Close)
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	r := &ruled{cluster: &kube.Cluster{Dynamic: client}, run: "r1"}
	for name, tt := range map[string]struct {
		do   error
		want string
	}{"end": {r.end(t.Context()), `PATCH`}, "remove": {r.remove(t.Context()), `DELETE`}} {
		if tt.do != nil {
			t.Errorf("%s: %v", name, tt.do)
		}
		if i := slices.IndexFunc(requests, func(s string) bool { return strings.HasPrefix(s, tt.want) }); i < 1 || !strings.Contains(requests[i], `"u-1"`) ||
			!strings.Contains(requests[i-1], "labelSelector=firstlight.dev/gate=telemetry,firstlight.dev/run=r1") {
			t.Errorf("%s: %q", name, requests)
		}
	}
}
