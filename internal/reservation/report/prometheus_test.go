package report

import (
	"context"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/reservation/lease"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/store"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/upstream/promtest"
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
			p := promtest.Start(t, rules, web.URL)
			var got []string
			last := ""
			for tick := time.NewTicker(200 * time.Millisecond); ; <-tick.C {
				if got = p.Alerts(t); len(got) == len(tt.want) && scrapes.Load() > 4 && p.Evaluated(t) {
					tick.Stop()
					break
				}
				if s := strings.Join(got, " "); s != last {
					last = s
					t.Logf("%d scrapes: %s", scrapes.Load(), s)
				}
				if scrapes.Load() > 60 {
					t.Fatalf("after a minute there are %v\n%s", got, p.Log())
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
