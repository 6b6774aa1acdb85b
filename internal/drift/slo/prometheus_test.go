package slo

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/upstream/promtest"
)

// cluster is what Prometheus scrapes of one cluster, and the alerts that it must have.
type cluster struct {
	busbw, mfu float64
	age        time.Duration // of the newest run
	ttft, tpot float64       // seconds of each request; 0: no server
	old        float64       // seconds of each token of an older server, which counts tokens only; 0: none
	hung       bool          // the servers count no more requests
	running    float64       // requests of each server
	waiting    float64
	// tokens that each of the two servers generates between two scrapes; nil: it does not count them.
	tokens []float64
	change func(map[string][]prometheus.Metric)
	alerts []string
}

// metrics are those of the newest run, by kind.
func (c cluster) metrics(site string) []prometheus.Metric {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
		return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{site, uid}, labels...)...)
	}
	byKind := map[string][]prometheus.Metric{
		"verified": {gauge(verifiedDesc, 1)},
		"time":     {gauge(timeDesc, float64(time.Now().Add(-c.age).Unix()), "drift")},
		"busbw":    {gauge(figureDesc, c.busbw, "collective", "busbw", "GB/s")},
		"mfu":      {gauge(figureDesc, c.mfu, "training", "MFU", "fraction")},
		"passed":   {gauge(runPassedDesc, 1)},
		"failed":   {gauge(runPassedDesc, 0)},
		"invalid":  {prometheus.MustNewConstMetric(verifiedDesc, prometheus.GaugeValue, 0, site, "")},
		"other":    {prometheus.MustNewConstMetric(verifiedDesc, prometheus.GaugeValue, 1, site, "another")},
	}
	c.change(byKind)
	var out []prometheus.Metric
	for _, of := range byKind {
		out = append(out, of...)
	}
	return out
}

// uid of the clusters.
const uid = "00000000-0000-4000-8000-000000000001"

// drop removes kinds of metrics.
func drop(kinds ...string) func(map[string][]prometheus.Metric) {
	return func(m map[string][]prometheus.Metric) {
		for _, kind := range kinds {
			delete(m, kind)
		}
	}
}

// clusters are one healthy cluster and one for each alert.
func clusters() map[string]cluster {
	run := []string{"verified", "time", "busbw", "mfu", "passed"}
	others := []string{"failed", "invalid", "other"}
	without := func(kind string) []string {
		return append(slices.DeleteFunc(slices.Clone(others), func(k string) bool { return k == kind }), run...)
	}
	healthy := cluster{busbw: 366, mfu: 0.4, ttft: 0.2, tpot: 0.02, running: 3, tokens: []float64{500, 500}, change: drop(others...)}
	with := func(change func(*cluster), alerts ...string) cluster {
		c := healthy
		change(&c)
		c.alerts = alerts
		return c
	}
	hung := func(running, waiting float64, tokens []float64, alerts ...string) cluster {
		return with(func(c *cluster) { c.hung, c.running, c.waiting, c.tokens = true, running, waiting, tokens }, alerts...)
	}
	stuck := []string{"FirstlightRequestsStuck tpot", "FirstlightRequestsStuck ttft"}
	none := []string{"FirstlightFiguresUnobserved ", "FirstlightObjectiveUnobserved busbw", "FirstlightObjectiveUnobserved mfu"}
	return map[string]cluster{
		"healthy":         healthy,
		"slow fabric":     with(func(c *cluster) { c.busbw = 300 }, "FirstlightBudgetBurns busbw"),
		"slow training":   with(func(c *cluster) { c.mfu = 0.3 }, "FirstlightBudgetBurns mfu"),
		"slow answers":    with(func(c *cluster) { c.ttft = 0.7 }, "FirstlightBudgetBurns ttft"),
		"slow tokens":     with(func(c *cluster) { c.tpot = 0.2 }, "FirstlightBudgetBurns tpot"),
		"slow old server": with(func(c *cluster) { c.old = 0.2 }, "FirstlightBudgetBurns tpot"),
		"failed run":      with(func(c *cluster) { c.change = drop("passed", "invalid", "other") }, "FirstlightRunNotPassed "),
		"old run":         with(func(c *cluster) { c.age = 2 * time.Hour }, "FirstlightFiguresOld "),
		"no training":     with(func(c *cluster) { c.change = drop("mfu", "failed", "invalid", "other") }, "FirstlightObjectiveUnobserved mfu"),
		"hung":            hung(3, 0, []float64{0, 0}, stuck...),
		"one hung":        hung(3, 0, []float64{500, 0}, stuck...),
		"uncounted":       hung(3, 0, nil, stuck...), // vllm:generation_tokens_total is absent
		"not started":     hung(0, 40, []float64{0, 0}, stuck...),
		"behind a long":   hung(1, 40, []float64{500, 500}, stuck...),
		"long answer":     hung(1, 0, []float64{500, 500}),
		"idle":            hung(0, 0, []float64{0, 0}),
		"no server":       with(func(c *cluster) { c.ttft, c.tpot = 0, 0 }, "FirstlightObjectiveUnobserved tpot", "FirstlightObjectiveUnobserved ttft"),
		"no run":          with(func(c *cluster) { c.change = drop(append(others, run...)...) }, none...),
		"does not verify": with(func(c *cluster) { c.change = drop(without("invalid")...) }, none...),
		"another cluster": with(func(c *cluster) { c.change = drop(without("other")...) }, none...),
	}
}

type collected []prometheus.Metric

func (c collected) Describe(chan<- *prometheus.Desc) {}

func (c collected) Collect(ch chan<- prometheus.Metric) {
	for _, m := range c {
		ch <- m
	}
}

// export serves all clusters; each scrape finds more requests.
func export(catalogue catalogue, all map[string]cluster, scrapes *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := int(scrapes.Add(1))
		r := prometheus.NewRegistry()
		for site, c := range all {
			r.MustRegister(collected(c.metrics(site)))
			for i, seconds := range []float64{c.ttft, c.tpot} {
				if seconds == 0 {
					continue
				}
				l := catalogue.Latencies[i]
				h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: l.Histograms[0], Buckets: l.Bounds, ConstLabels: prometheus.Labels{"namespace": site}})
				engine := prometheus.Labels{"namespace": site, "engine": strconv.Itoa(i)} // of all metrics of a server
				running := prometheus.NewGauge(prometheus.GaugeOpts{Name: "vllm:num_requests_running", ConstLabels: engine})
				waiting := prometheus.NewGauge(prometheus.GaugeOpts{Name: "vllm:num_requests_waiting", ConstLabels: engine})
				running.Set(c.running)
				waiting.Set(c.waiting)
				r.MustRegister(h, running, waiting)
				if c.tokens != nil {
					generated := prometheus.NewCounter(prometheus.CounterOpts{Name: "vllm:generation_tokens_total", ConstLabels: engine})
					generated.Add(c.tokens[i] * float64(n))
					r.MustRegister(generated)
				}
				requests := 20 * n
				if c.hung {
					requests = 20
				}
				for range requests {
					h.Observe(seconds)
				}
			}
			if c.old == 0 {
				continue
			}
			l := catalogue.Latencies[1]
			h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: l.Histograms[1], Buckets: l.Bounds, ConstLabels: prometheus.Labels{"namespace": site, "engine": "old"}})
			r.MustRegister(h)
			for range 40 * n {
				h.Observe(c.old)
			}
		}
		promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, req)
	})
}

// A real Prometheus evaluates the rules, with windows of seconds instead of minutes: no alert for a
// healthy cluster, and for each limit that is missed the alert of this limit alone.
func TestRulesInPrometheus(t *testing.T) {
	t.Parallel()
	suite.Live(t)
	catalogue, err := loadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	var file File
	for site := range clusters() {
		one, err := Rules(Options{Site: site, Cluster: uid, Figures: accepted(), MaxAge: time.Hour, Selector: fmt.Sprintf("namespace=%q", site), shorten: 60})
		if err != nil {
			t.Fatal(err)
		}
		for i := range one.Groups[0].Rules {
			one.Groups[0].Rules[i].For = ""
		}
		file.Groups = append(file.Groups, one.Groups...)
	}
	data, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var want []string
	for site, c := range clusters() {
		for _, alert := range c.alerts {
			want = append(want, site+": "+alert)
		}
	}
	slices.Sort(want)
	var scrapes atomic.Int64
	web := httptest.NewServer(export(catalogue, clusters(), &scrapes))
	t.Cleanup(web.Close)
	p := promtest.Start(t, path, web.URL)
	// The shortest windows are five seconds: after 20 scrapes every alert of a healthy cluster would fire.
	polltest.UntilNil(t, "the alerts", func() error {
		var got []string
		for _, a := range p.AlertLabels(t) {
			got = append(got, a["site"]+": "+a["alertname"]+" "+a["slo"])
		}
		slices.Sort(got)
		if got = slices.Compact(got); scrapes.Load() < 20 || !p.Evaluated(t) || !slices.Equal(got, want) {
			return fmt.Errorf("%d scrapes:\n%s\nwant:\n%s", scrapes.Load(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}
