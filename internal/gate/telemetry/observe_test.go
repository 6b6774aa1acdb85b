package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// recorder keeps observations in memory.
type recorder struct {
	obs []check.Observation
}

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprintf("%04d", len(r.obs)+1)
	r.obs = append(r.obs, o)
	return o, nil
}

func (*recorder) Progress(string, ...any) {}

// api answers as Prometheus and Alertmanager do.
type api struct {
	mu     sync.Mutex
	alerts []prom.Alert // as posted
	// interrupt, when set, is called instead of listing alerts.
	interrupt func()
	// retries is how often the counters are read before the webhook answers.
	retries int
	// others is how often another replica's counters are read instead, once the alert is posted.
	others int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.URL.Path == "/api/v1/query":
		labels := `"UUID":"GPU-a","gpu":"0","hostname":"gpu-01","instance":"10.0.0.1:9400","node":"gpu-01","pod":"exporter-x"`
		value := "42"
		if strings.HasPrefix(r.URL.Query().Get("query"), "timestamp(") {
			value = "1773114088.5"
		} else {
			labels = `"__name__":"DCGM_FI_DEV_GPU_UTIL",` + labels
		}
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{%s},"value":[1773114090,%q]}]}}`, labels, value)
	case r.URL.Path == "/api/v1/alertmanagers":
		io.WriteString(w, `{"status":"success","data":{"activeAlertmanagers":[{"url":"http://am"}]}}`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/status":
		io.WriteString(w, `{"config":{"original":"receivers:\n- name: on-call\n  webhook_configs: [{url: x}]\n"}}`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && r.Method == http.MethodPost:
		var posted []prom.Alert
		if json.NewDecoder(r.Body).Decode(&posted) == nil {
			a.alerts = append(a.alerts, posted...)
		}
	case r.URL.Path == "/api/v2/alerts" && a.interrupt != nil:
		a.interrupt()
		io.WriteString(w, `[]`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && len(a.alerts) > 0:
		io.WriteString(w, `[{"labels":{},"receivers":[{"name":"on-call"}],"status":{"state":"active"}}]`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts":
		io.WriteString(w, `[]`) //nolint:errcheck // a test server
	case r.URL.Path == "/metrics":
		refused, earlier := 0, 0
		if len(a.alerts) > 0 && a.others > 0 {
			a.others--
			earlier = 40
		}
		if len(a.alerts) > 0 && a.retries > 0 {
			a.retries--
			refused = len(a.alerts)
		}
		for name, n := range map[string]int{
			"notifications_total": earlier + len(a.alerts), "notification_requests_total": earlier + len(a.alerts), "notification_requests_failed_total": refused,
		} {
			fmt.Fprintf(w, "# TYPE alertmanager_%[1]s counter\nalertmanager_%[1]s{integration=\"webhook\"} %[2]d\n", name, n)
		}
		fmt.Fprintf(w, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", 1000+earlier)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func serve(t *testing.T, a *api) (*Gate, prom.Prometheus) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	g := gate(t)
	g.reach.Alertmanager = site.Endpoint{URL: server.URL}
	g.deps.RunID = "r1"
	client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return g, prom.Prometheus{Client: client}
}

func TestReadSeriesJoinsValuesAndTimes(t *testing.T) {
	t.Parallel()
	_, p := serve(t, &api{})
	f, raw, err := readSeries(t.Context(), p)
	if err != nil || len(f.Series) != 1 || len(raw) == 0 {
		t.Fatal(f, err)
	}
	s := f.Series[0]
	if s.Util != 42 || s.Host != "gpu-01" || s.UUID != "GPU-a" || f.Now.Sub(s.Sampled) != 1500*time.Millisecond {
		t.Errorf("%+v at %s", s, f.Now)
	}
}

// Two replicas take turns behind one address, and one of them has no samples. The first
// whole answer was believed.
func TestEveryReplicaIsAsked(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stale bool
		want  int // answers that are not whole
	}{"both have samples": {false, 0}, "one has none": {true, answersWanted / 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := &api{}
			var mu sync.Mutex
			connections := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				if _, known := connections[r.RemoteAddr]; !known {
					connections[r.RemoteAddr] = len(connections)
				}
				turn := connections[r.RemoteAddr]
				mu.Unlock()
				if tt.stale && turn%2 == 1 {
					io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`) //nolint:errcheck // a test server
					return
				}
				whole.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			g := gate(t)
			g.nodes, g.gpus, g.profile.Settle.Value = []string{"gpu-01"}, 1, 0
			var rec recorder
			if err := g.observeAnswers(t.Context(), prom.Prometheus{Client: client}, &rec); err != nil {
				t.Fatal(err)
			}
			f, err := check.Decode[answersFigures](rec.obs[0])
			if err != nil || len(f.Answers) != answersWanted {
				t.Fatal(f, err)
			}
			if got := len(g.partialAnswers(f)); got != tt.want {
				t.Errorf("%d answers are incomplete, want %d: %+v", got, tt.want, f)
			}
		})
	}
}

func TestAlertIsFollowedAndEnded(t *testing.T) {
	t.Parallel()
	a := &api{}
	g, p := serve(t, a)
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if !b.Clean() {
		t.Errorf("%+v", b.Judgement(""))
	}
	if len(a.alerts) != 2 || !a.alerts[1].EndsAt.Before(a.alerts[0].EndsAt) || a.alerts[0].Labels[runLabel] != "r1" {
		t.Errorf("%+v", a.alerts)
	}
	for _, o := range rec.obs {
		if o.Kind == kindReceivers && len(o.Raw) > 0 {
			t.Error("Alertmanager's configuration is kept: it may hold secrets")
		}
	}
}

// Alertmanager counts a notification before it sends it: a webhook that does not answer looked
// like one that does, for as long as it was retried.
func TestABegunNotificationIsWaitedFor(t *testing.T) {
	t.Parallel()
	a := &api{retries: 2}
	g, p := serve(t, a)
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if !b.Clean() || a.retries > 0 {
		t.Errorf("%+v, %d retries were not awaited", b.Judgement(""), a.retries)
	}
}

// Through a Service any replica answers: the counters of the one that was read first count.
func TestAnotherReplicasCountersAreNotOurs(t *testing.T) {
	t.Parallel()
	a := &api{others: 2}
	g, p := serve(t, a)
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if !b.Clean() || a.others > 0 {
		t.Errorf("%+v, %d answers of another replica were not ignored", b.Judgement(""), a.others)
	}
}

func TestAnInterruptedAlertIsEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := &api{interrupt: cancel}
	g, p := serve(t, a)
	if err := g.observeAlert(ctx, nil, p, &recorder{}); err == nil {
		t.Error("an interruption went unsaid")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.alerts); n != 2 {
		t.Errorf("%d posts, want the alert and its end", n)
	}
}

func TestUnreachableIsRecordedAndNoPass(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.reach.Alertmanager = site.Endpoint{URL: "http://127.0.0.1:1"}
	client, err := prom.Connect(prom.Endpoint{URL: "http://127.0.0.1:1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.profile.Settle.Value = 0
	p, rec := prom.Prometheus{Client: client}, &recorder{}
	if _, complete, err := g.observeIdle(t.Context(), p, rec); complete || err != nil {
		t.Fatal(complete, err)
	}
	if err := g.observeAlert(t.Context(), nil, p, rec); err != nil {
		t.Fatal(err)
	}
	if j := g.Judge(rec.obs); j.Verdict != check.Unobserved {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}
