package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/upstream"
)

const rules = "../../../examples/prometheus/reservations.rules.yaml"

// ago is so long before now, which Prometheus' rules go by.
func ago(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(time.Now().Add(-d)) }

// well returns a store without alerts.
func well(n int64) *memory {
	until := ago(-8 * time.Hour)
	h := handOver("evening-down", "down", 0, time.Hour, true, "", store.HandOverRow{Reservation: "r"})
	b := handOver("nightly-batch", "batch", 0, time.Hour, true, "", store.HandOverRow{Reservation: "r", Cells: []matrix.Cell{{Outcome: matrix.Passed}, {Outcome: matrix.Superseded}}})
	for _, one := range []*store.HandOver{h, b} {
		one.Spec.At, one.Spec.Until = metav1.NewTime(time.Now().Add(-time.Hour)), metav1.NewTime(time.Now().Add(time.Hour))
	}
	return &memory{
		list: []*store.Reservation{row("r", lease.Record{
			State: lease.Leased, Lease: &lease.Lease{Ticket: lease.Ticket{Holder: "ada"}, ClaimedAt: &until, ExpiresAt: &until, TermEndsAt: &until},
			Queue: []lease.Ticket{{ID: "b", QueuedAt: ago(time.Hour)}}, Recent: transitions(1, slices.Repeat([]lease.EventType{lease.Claimed}, int(n))...),
		})},
		handOvers: []*store.HandOver{h, b},
	}
}

// broken returns a store with all alerts; each read finds more events.
func broken(n int64) *memory {
	ends := ago(-10 * time.Minute)
	m := &memory{list: []*store.Reservation{
		row("found", lease.Record{State: lease.Dirty, DirtyInfo: &lease.DirtyInfo{Since: ago(3 * time.Hour), Attempts: 3, ManualOnly: true}}),
		row("held", lease.Record{
			State: lease.Leased, Lease: &lease.Lease{Ticket: lease.Ticket{Holder: "ada"}, ClaimedAt: &ends, ExpiresAt: &ends, TermEndsAt: &ends},
			Queue:  []lease.Ticket{{ID: "b", QueuedAt: ago(5 * time.Hour)}},
			Recent: transitions(1, slices.Repeat([]lease.EventType{lease.Expired, lease.Restored}, int(n))...),
		}),
	}}
	for entry, h := range map[string]*store.HandOver{
		"evening-down": handOver("evening-down", "down", 0, 0, true, "found: it still exists"),
		"morning-up":   handOver("morning-up", "up", 0, 0, false, ""),
		"nightly-batch": handOver("nightly-batch", "batch", 0, 0, true, "", store.HandOverRow{
			Reservation: "found", Cells: []matrix.Cell{{Outcome: matrix.Passed}, {Outcome: matrix.Blocked}},
		}),
	} {
		h.Spec.Entry, h.Spec.At, h.Spec.Until = entry, metav1.NewTime(time.Now().Add(-30*time.Hour)), metav1.NewTime(time.Now().Add(-29*time.Hour))
		m.handOvers = append(m.handOvers, h)
	}
	return m
}

// A real Prometheus scrapes the collector and loads the example rules: no alert for a healthy
// store, and one of each rule for a broken one.
func TestRulesInPrometheus(t *testing.T) {
	t.Parallel()
	suite.Live(t)
	raw, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	every := alertsOf(string(raw))
	all := slices.DeleteFunc(slices.Clone(every), func(a string) bool { return a == "ReservationStoreUnreadable" })
	for name, tt := range map[string]struct {
		store func(n int64) *memory
		want  []string
	}{
		"well":       {well, nil},
		"ill":        {broken, all},
		"unreadable": {func(int64) *memory { return &memory{broken: map[string]error{"list": context.DeadlineExceeded}} }, []string{"ReservationStoreUnreadable"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scrapes atomic.Int64
			c := &following{store: func() *memory { return tt.store(scrapes.Add(1)) }}
			r := prometheus.NewRegistry()
			r.MustRegister(c, leads(name != "ill"))
			web := httptest.NewServer(promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
			t.Cleanup(web.Close)
			p := startPrometheus(t, web.URL)
			var got []string
			last := ""
			for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
				if got = p.alerts(t); len(got) == len(tt.want) && scrapes.Load() > 4 && p.evaluated(t) {
					tick.Stop()
					break
				}
				if s := strings.Join(got, " "); s != last {
					last = s
					t.Logf("%d scrapes: %s", scrapes.Load(), s)
				}
				if scrapes.Load() > 60 {
					t.Fatalf("after a minute there are %v\n%s", got, p.log)
				}
			}
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("alerts are %v, want %v", got, tt.want)
			}
		})
	}
	if len(every) < 12 {
		t.Errorf("the rules are %v: the search is broken", every)
	}
}

// leads is served in addition by firstlight reservation run.
func leads(yes bool) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "firstlight_controller_leads", Help: "1 where this controller works."})
	if yes {
		g.Set(1)
	}
	return g
}

// following collects of another store each time.
type following struct {
	store func() *memory
	inner *collector
}

func (f *following) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d
	}
}

func (f *following) Collect(ch chan<- prometheus.Metric) {
	if f.inner == nil {
		f.inner = NewCollector(CollectorOptions{Store: f.store()}).(*collector)
	}
	f.inner.opts.Store = f.store()
	f.inner.Collect(ch)
}

func alertsOf(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- alert: "); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

type prom struct {
	url string
	log *bytes.Buffer
}

func startPrometheus(t *testing.T, target string) *prom {
	t.Helper()
	programs, err := upstream.Builder{}.Ensure(t.Context(), []string{"prometheus"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path, err := programs.Path(t.Context(), "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(rules)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n  - job_name: firstlight\n    static_configs: [{targets: [%q]}]\n", abs, u.Host)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &prom{url: "http://" + freeAddress(t), log: &bytes.Buffer{}}
	cmd := exec.CommandContext(t.Context(), path, "--config.file="+filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+strings.TrimPrefix(p.url, "http://"), "--log.level=warn")
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // ended by the test
	t.Cleanup(func() { <-ended })                      // t.Context has ended
	polltest.UntilNil(t, "Prometheus to be ready", func() error {
		select {
		case <-ended:
			return poll.Stop(fmt.Errorf("Prometheus has ended:\n%s", p.log))
		default:
		}
		_, err := get(t, p.url+"/-/ready")
		return err
	})
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func get(t *testing.T, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %w", url, resp.Status, err)
	}
	return b.String(), nil
}

// alerts are those that are pending or firing, in order.
func (p *prom) alerts(t *testing.T) []string {
	t.Helper()
	var out struct {
		Data struct {
			Alerts []struct{ Labels map[string]string }
		}
	}
	p.read(t, "/api/v1/alerts", &out)
	names := []string{}
	for _, a := range out.Data.Alerts {
		names = append(names, a.Labels["alertname"])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// evaluated tells that every rule was, and none failed, after something was scraped.
func (p *prom) evaluated(t *testing.T) bool {
	t.Helper()
	var out struct {
		Data struct {
			Groups []struct {
				Rules []struct {
					Name, Health, LastError string
				}
			}
		}
	}
	p.read(t, "/api/v1/rules", &out)
	done := len(out.Data.Groups) == 1
	for _, g := range out.Data.Groups {
		for _, r := range g.Rules {
			if r.Health == "err" {
				t.Errorf("rule %s: %s", r.Name, r.LastError)
			}
			done = done && r.Health == "ok"
		}
	}
	return done
}

func (p *prom) read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := get(t, p.url+path)
	if err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
