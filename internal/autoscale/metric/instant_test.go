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
