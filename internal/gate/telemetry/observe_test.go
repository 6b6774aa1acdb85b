package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

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
	// config is added to Alertmanager's configuration.
	config string
	// earlier is how often an alert of an earlier attempt is listed; -1: always.
	earlier int
	// endable: that alert ends when it is posted with its end.
	endable bool
	// unlisted: Prometheus does not serve its Alertmanagers.
	unlisted bool
	// now is Alertmanager's clock.
	now func() time.Time
	// refuses: alerts are not accepted.
	refuses bool
	// unresolved: alerts do not end.
	unresolved bool
	// notifying are the alerts of the receiver; empty: not JSON.
	notifying string
	// retries is how often the counters are read before the webhook answers.
	retries int
	// others is how often another replica's counters are read instead, once the alert is posted.
	others int
	// alsoSent is another Alertmanager that Prometheus sends to; empty: none.
	alsoSent string
	// members is the size of Alertmanager's cluster.
	members int
	// alsoRouted is another receiver of the alert; empty: none.
	alsoRouted string
	// external are the external labels of Prometheus, as YAML.
	external string
	// muted are the time intervals that mute the alert's route.
	muted []string
	// relisted is how often the alert is listed again after its end, once it was not listed.
	relisted, endReads int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case r.URL.Path == "/api/v1/query" && strings.Contains(r.URL.Query().Get("query"), "ALERTS"):
		io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v1/query":
		labels := `"UUID":"GPU-a","gpu":"0","hostname":"gpu-01","instance":"10.0.0.1:9400","node":"gpu-01","pod":"exporter-x"`
		fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL",%[1]s},"value":[1773114090,"42"]},{"metric":{"firstlight_timestamp":"true",%[1]s},"value":[1773114090,"1773114088.5"]}]}}`, labels)
	case r.URL.Path == "/api/v1/status/config" && a.external != "":
		config, _ := json.Marshal("global:\n  external_labels:\n    " + a.external) // a string
		fmt.Fprintf(w, `{"status":"success","data":{"yaml":%s}}`, config)
	case r.URL.Path == "/api/v1/alertmanagers" && a.alsoSent != "":
		fmt.Fprintf(w, `{"status":"success","data":{"activeAlertmanagers":[{"url":"http://am"},{"url":%q}]}}`, a.alsoSent)
	case r.URL.Path == "/api/v1/alertmanagers" && !a.unlisted:
		io.WriteString(w, `{"status":"success","data":{"activeAlertmanagers":[{"url":"http://am"}]}}`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/status":
		config, _ := json.Marshal("route: {receiver: on-call}\nreceivers:\n- name: on-call\n  webhook_configs: [{url: x}]\n" + a.config) // a string
		fmt.Fprintf(w, `{"config":{"original":%s}}`, config)
	case a.refuses && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/api/v2/alerts" && r.Method == http.MethodPost:
		var posted []prom.Alert
		if json.NewDecoder(r.Body).Decode(&posted) == nil {
			if len(posted) == 1 && posted[0].Labels[attemptLabel] == "earlier" {
				if a.endable && !posted[0].EndsAt.After(a.now()) {
					a.earlier = 0
				}
				return
			}
			a.alerts = append(a.alerts, posted...)
		}
	case r.URL.Path == "/api/v2/alerts" && a.interrupt != nil && len(a.alerts) > 0:
		a.interrupt()
		io.WriteString(w, `[]`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && a.earlier != 0 && len(a.alerts) == 0 && strings.HasPrefix(r.URL.Query().Get("filter"), runLabel):
		a.earlier = max(-1, a.earlier-1)
		io.WriteString(w, `[{"labels":{"firstlight_attempt":"earlier"},"receivers":[{"name":"on-call"}],"status":{"state":"active"}}]`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && r.URL.Query().Has("receiver"):
		io.WriteString(w, a.notifying) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && len(a.alerts) > 0 && a.alsoRouted != "" && a.alerts[len(a.alerts)-1].EndsAt.After(a.now()):
		fmt.Fprintf(w, `[{"labels":{},"receivers":[{"name":"on-call"},{"name":%q}],"status":{"state":"active"}}]`, a.alsoRouted)
	case r.URL.Path == "/api/v2/alerts/groups" && len(a.muted) > 0:
		muted, _ := json.Marshal(a.muted) // a list of strings
		fmt.Fprintf(w, `[{"labels":{},"receiver":{"name":"on-call"},"alerts":[{"labels":{},"receivers":[{"name":"on-call"}],"status":{"state":"suppressed","silencedBy":[],"inhibitedBy":[],"mutedBy":%s}}]}]`, muted)
	case r.URL.Path == "/api/v2/alerts" && a.relists():
		io.WriteString(w, `[{"labels":{},"receivers":[{"name":"on-call"}],"status":{"state":"active"}}]`) //nolint:errcheck // a test server
	case r.URL.Path == "/api/v2/alerts" && len(a.alerts) > 0 && (a.unresolved || a.alerts[len(a.alerts)-1].EndsAt.After(a.now())):
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
		if a.members > 0 {
			fmt.Fprintf(w, "# TYPE alertmanager_cluster_members gauge\nalertmanager_cluster_members %d\n", a.members)
		}
		if len(a.muted) > 0 {
			return // nothing is sent, and the process is unknown
		}
		fmt.Fprintf(w, "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", 1000+earlier)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// relists reports whether the alert that has ended is listed again: not at the first reading, and then as often as
// a.relisted says.
func (a *api) relists() bool {
	if a.relisted == 0 {
		return false
	}
	a.endReads++
	return a.endReads > 1 && a.endReads <= 1+a.relisted
}

func serve(t *testing.T, a *api) (*Gate, prom.Prometheus) {
	t.Helper()
	a.notifying = cmp.Or(a.notifying, "[]")
	if a.now == nil {
		a.now = time.Now
	}
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
			whole := &api{now: time.Now}
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

// An endpoint in front of several Prometheus servers has series and no Alertmanagers: the alert is still followed.
func TestAlertmanagersThatAreNotListed(t *testing.T) {
	t.Parallel()
	g, p := serve(t, &api{unlisted: true})
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if j := b.Judgement(""); j.Verdict != check.Unobserved || len(j.Findings) != 1 || !strings.Contains(j.Findings[0].Message, "does not serve /api/v1/alertmanagers") {
		t.Errorf("posted: %+v", j)
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

// Without consent the alert was silenced, and a silence may not hold: nothing is raised.
func TestNothingIsRaisedWithoutConsent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		page, pagesNobody bool
		posts             int
	}{
		"neither":         {false, false, 0},
		"--page":          {true, false, 2},
		"pages no person": {false, true, 2},
		"both":            {true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{}
			g, p := serve(t, a)
			g.deps.Page, g.telemetry.Alert.PagesNobody = tt.page, tt.pagesNobody
			var rec recorder
			if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
				t.Fatal(err)
			}
			var b check.Builder
			g.judgeAlert(&b, rec.obs)
			if b.Clean() != (tt.posts > 0) || len(a.alerts) != tt.posts {
				t.Errorf("%d posts; %+v", len(a.alerts), b.Judgement(""))
			}
		})
	}
}

// An alert of a killed attempt of the same run was not one of the others, and its notification counted.
func TestAnEarlierAttemptIsAwaited(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lists   int
		endable bool
		posts   int
	}{"it ends": {3, false, 2}, "it is ended": {-1, true, 2}, "it does not end": {-1, false, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{earlier: tt.lists, endable: tt.endable, now: fast{}.Now}
			g, p := serve(t, a)
			g.deps.Clock = fast{clock.RealClock{}}
			var rec recorder
			if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
				t.Fatal(err)
			}
			var b check.Builder
			g.judgeAlert(&b, rec.obs)
			if len(a.alerts) != tt.posts || b.Clean() != (tt.posts > 0) {
				t.Errorf("%d posts; %+v", len(a.alerts), b.Judgement(""))
			}
		})
	}
}

func TestAnotherAttemptsAlertIsAnother(t *testing.T) {
	t.Parallel()
	a := &api{notifying: `[{"labels":{"alertname":"FirstlightSynthetic","firstlight_run":"r1","firstlight_attempt":"earlier"},"receivers":[{"name":"on-call"}],"status":{"state":"active"}}]`}
	g, p := serve(t, a)
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	var b check.Builder
	g.judgeAlert(&b, rec.obs)
	if b.Clean() {
		t.Error("the notification may be of the earlier attempt")
	}
}

// fast is a clock that does not wait, and whose time is 30 times as fast.
type fast struct{ clock.RealClock }

func (fast) Now() time.Time { return begun.Add(30 * time.Since(begun)) }

func (f fast) Since(t time.Time) time.Duration { return f.Now().Sub(t) }

func (f fast) NewTimer(d time.Duration) clock.Timer { return f.RealClock.NewTimer(d / 30) }

var begun = time.Now()

// A balancer of each request in turn led every query of the series to the same replica.
func TestEveryReplicaIsAskedByRequest(t *testing.T) {
	t.Parallel()
	for _, replicas := range []int{2, 3} {
		whole := &api{now: time.Now}
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			turn := int(requests.Add(1)) % replicas
			switch {
			case r.URL.Path == "/api/v1/status/runtimeinfo":
				fmt.Fprintf(w, `{"status":"success","data":{"startTime":"2026-11-21T00:00:0%dZ","hostname":"p"}}`, turn)
			case turn == 0:
				io.WriteString(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`) //nolint:errcheck // a test server
			default:
				whole.ServeHTTP(w, r)
			}
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
		if err != nil {
			t.Fatal(err)
		}
		if n := len(g.partialAnswers(f)); n != answersWanted/replicas || !severalProcesses(f) {
			t.Errorf("%d replicas: %d answers are incomplete, of several processes: %t", replicas, n, severalProcesses(f))
		}
	}
}

// Consent is for one receiver, and muted alerts of others are a danger: nothing is raised.
func TestNothingIsRaisedThatInhibits(t *testing.T) {
	t.Parallel()
	first, second := &api{}, &api{config: "inhibit_rules: [{source_matchers: ['severity=\"critical\"'], equal: [namespace]}]"}
	g, p := serve(t, first)
	other, _ := serve(t, second)
	g.reach.AlertmanagerReplicas = []site.Endpoint{other.reach.Alertmanager}
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err != nil {
		t.Fatal(err)
	}
	if len(first.alerts)+len(second.alerts) > 0 {
		t.Errorf("%+v %+v", first.alerts, second.alerts)
	}
}

// The alert was left at the first Alertmanager if the second did not accept it.
func TestAnAlertThatWasRaisedInPartIsEnded(t *testing.T) {
	t.Parallel()
	first, second := &api{}, &api{refuses: true}
	g, p := serve(t, first)
	other, _ := serve(t, second)
	g.reach.AlertmanagerReplicas = []site.Endpoint{other.reach.Alertmanager}
	var rec recorder
	if err := g.observeAlert(t.Context(), nil, p, &rec); err == nil {
		t.Error("the alert could not be ended at the second Alertmanager, without an error")
	}
	if len(first.alerts) != 2 || first.alerts[1].EndsAt.After(time.Now()) {
		t.Errorf("%+v", first.alerts)
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
