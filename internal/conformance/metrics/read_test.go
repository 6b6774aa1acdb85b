package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// answers is a Prometheus that has one GPU, without the metrics named.
func answers(t *testing.T, without ...string) prom.Prometheus {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query().Get("query")
		name, value, labels := query, "42", `"__name__":"X",`
		if rest, ok := strings.CutPrefix(query, "timestamp("); ok {
			name, value, labels = strings.TrimSuffix(rest, ")"), "1773114088.5", ""
		}
		for _, w := range without {
			if name == w {
				labels = "-"
			}
		}
		result := fmt.Sprintf(`{"metric":{%s"UUID":"GPU-a","gpu":"0","hostname":"gpu-01","instance":"10.0.0.1:9400","node":"gpu-01","namespace":"stack","pod":"exporter-x","exported_namespace":"team","exported_pod":"train"},"value":[1773114090,%q]}`, labels, value)
		if labels == "-" {
			result = ""
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, result)
	}))
	t.Cleanup(server.Close)
	client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return prom.Prometheus{Client: client}
}

func TestReadJoinsMetrics(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	s, raw, err := c.read(t.Context(), answers(t, temp))
	if err != nil || len(s.GPUs) != 1 || len(raw) == 0 {
		t.Fatal(s, err)
	}
	g := s.GPUs[0]
	if g.Host != "gpu-01" || g.UUID != "GPU-a" || g.Index != "0" || g.Namespace != "team" || g.Pod != "train" {
		t.Errorf("%+v", g)
	}
	if len(g.Samples) != len(c.metrics)-1 || len(g.Samples[temp]) != 0 || g.Samples[power][0].Value != 42 || s.Now.Sub(g.Samples[power][0].At) != 1500*time.Millisecond {
		t.Errorf("%+v at %s", g.Samples, s.Now)
	}
}

func TestReadWantsTimestamps(t *testing.T) {
	t.Parallel()
	err := join(map[string]*gpu{}, util, []prom.Sample{{Labels: map[string]string{"gpu": "0"}}}, nil)
	if err == nil {
		t.Error("a series without a timestamp was read")
	}
}

func TestAPrometheusThatIsAwayIsRecorded(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	client, err := prom.Connect(prom.Endpoint{URL: "http://127.0.0.1:1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec := &labtest.Recorder{}
	c.profile.Telemetry.Settle.Value = 0
	o := &observer{Check: c, prom: prom.Prometheus{Client: client}, rec: check.Observer{Recorder: rec, Clock: c.deps.Clock}}
	if complete, err := o.complete(t.Context()); complete || err != nil {
		t.Fatal(complete, err)
	}
	if j := c.Judge(rec.Observations()); j.Verdict != check.Unobserved {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	c := theCheck(t)
	required := 0
	for _, m := range c.metrics {
		if !m.Required {
			continue
		}
		required++
		if !(m.Least.Value < m.Most.Value) || !(m.Rise.Value > 0) {
			t.Errorf("%+v: %+v %+v %+v", m, m.Least, m.Most, m.Rise)
		}
		if m.Quiet != nil && m.Quiet.Value > m.Rise.Value {
			t.Errorf("%s: quiet is not below rise", m.Name)
		}
	}
	if required != 4 {
		t.Errorf("%d metrics are required", required)
	}
	b := bound{Of: "weight", Source: "x"}
	if err := b.resolve("m", c.profile); err == nil {
		t.Error("a figure that no profile has was taken")
	}
	if err := (&bound{Value: 1}).resolve("m", c.profile); err == nil {
		t.Error("a figure without a source was taken")
	}
}
