package metric

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// An adapter rule may have no range: its value is that of the newest samples.
func TestARuleWithoutARangeHasInstantaneousSeries(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result := `{"metric":{"Hostname":"a","gpu":"0"},"value":[1800000000,"70"]}`
		if err := r.ParseForm(); err != nil || strings.Contains(r.Form.Get("query"), "[") {
			result = "" // no sample is within a millisecond
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[` + result + `]}}`))
	}))
	t.Cleanup(api.Close)
	client, err := prom.Connect(prom.Endpoint{URL: api.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	m := snapshot.Metric{Series: series, Selector: Selector(Plain, "team", "load")}
	got, err := readMade(t.Context(), prom.Prometheus{Client: client}, m, 0, time.Second, hosts{nodes: []string{"a"}}, time.Unix(5, 0))
	if err != nil || len(got) != 1 || got[0].Value != 70 {
		t.Errorf("%+v, %v", got, err)
	}
	if query := Query("", series, m.Selector, "", 0); strings.Contains(query, "[") {
		t.Error(query)
	}
}

// Mimir and managed services do not serve the list of targets (Amazon's answers 404: kiali/kiali, issue 8370): the samples
// show what they scrape. Any other failure is an error.
func TestCoverageWithoutTheListOfTargets(t *testing.T) {
	t.Parallel()
	for status, counted := range map[int]bool{http.StatusNotFound: true, http.StatusForbidden: false, http.StatusBadGateway: false} {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v1/query" {
				w.WriteHeader(status)
				return
			}
			value := "70"
			if strings.HasPrefix(r.FormValue("query"), "timestamp(") {
				value = "1799999999"
			}
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"Hostname":"a","gpu":"0","UUID":"1"},"value":[1800000000,"` + value + `"]}]}}`))
		}))
		t.Cleanup(api.Close)
		client, err := prom.Connect(prom.Endpoint{URL: api.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		got, err := readCoverage(t.Context(), prom.Prometheus{Client: client}, series, map[string]int{"a": 1}, hosts{nodes: []string{"a"}}, 2*time.Second)
		if counted != (err == nil && len(got) == 1 && got[0].Fresh == 1 && got[0].Up == nil && got[0].Trouble != "") {
			t.Errorf("targets %d: %+v, %v", status, got, err)
		}
	}
}
