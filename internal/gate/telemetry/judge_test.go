package telemetry

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func gate(t *testing.T) *Gate {
	t.Helper()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Telemetry: site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second), Receiver: "on-call", LoadImage: "dcgm"}}
	for i := range 2 {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	return New(s, p, Deps{})
}

// facts are what a gate's observations say; nil parts were not observed.
type facts struct {
	idle, loaded  *seriesFigures
	targets       *targetFigures
	last          *lastFigures
	usage         *usageFigures
	load          *loadFigures
	alertmanagers *alertmanagerFigures
	receivers     *receiverFigures
	alert         *alertFigures
	before, after *prom.Notifications
	errs          map[string]string // by kind or kind/target
}

func now() time.Time { return time.Date(2026, 11, 21, 1, 42, 33, 0, time.UTC) }

func readings(g *Gate, util float64) *seriesFigures {
	f := &seriesFigures{Now: now()}
	for n, node := range g.nodes {
		for i := range g.gpus {
			f.Series = append(f.Series, series{
				UUID: fmt.Sprintf("GPU-%d-%d", n, i), GPU: fmt.Sprint(i), Host: node, Instance: fmt.Sprintf("10.0.0.%d:9400", n+1),
				Node: node, Util: util, Sampled: now().Add(-7 * time.Second),
			})
		}
	}
	return f
}

func healthy(g *Gate) facts {
	f := facts{
		idle: readings(g, 0), loaded: readings(g, 99),
		usage:         &usageFigures{Nodes: map[string]kube.Usage{}},
		load:          &loadFigures{Nodes: map[string]string{"gpu-load-0": "gpu-01"}},
		alertmanagers: &alertmanagerFigures{Active: []string{"https://10.0.0.9:9093/api/v2/alerts"}},
		receivers:     &receiverFigures{Receivers: []prom.Receiver{{Name: "on-call", Integrations: []string{"webhook"}}}},
		alert:         &alertFigures{Waited: time.Second, Alerts: []prom.AlertState{{State: "active", Receivers: []string{"on-call"}}}},
		before:        &prom.Notifications{Total: map[string]float64{"webhook": 3}, Failed: map[string]float64{"webhook": 1}},
		after:         &prom.Notifications{Total: map[string]float64{"webhook": 4}, Failed: map[string]float64{"webhook": 1}},
		errs:          map[string]string{},
	}
	for _, n := range g.nodes {
		f.usage.Nodes[n] = kube.Usage{Allocatable: 8}
	}
	return f
}

func (f facts) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind, target string, there bool, figures any) {
		if !there {
			return
		}
		o, err := check.Observation{ID: "id-" + kind, Kind: kind, Target: target}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{kind, kind + "/" + target} {
			if why := f.errs[key]; why != "" {
				o.Err, o.Figures = why, nil
			}
		}
		out = append(out, o)
	}
	add(kindSeries, targetIdle, f.idle != nil, f.idle)
	add(kindTargets, "prometheus", f.targets != nil, f.targets)
	add(kindLastSamples, "prometheus", f.last != nil, f.last)
	add(kindUsage, "cluster", f.usage != nil, f.usage)
	add(kindLoad, "cluster", f.load != nil, f.load)
	add(kindSeries, targetLoaded, f.loaded != nil, f.loaded)
	add(kindAlertmanagers, "prometheus", f.alertmanagers != nil, f.alertmanagers)
	add(kindReceivers, "alertmanager", f.receivers != nil, f.receivers)
	add(kindNotifications, targetBefore, f.before != nil, f.before)
	add(kindAlert, "alertmanager", f.alert != nil, f.alert)
	add(kindNotifications, targetAfter, f.after != nil, f.after)
	return out
}

// of keeps the series that keep tells to keep.
func of(f *seriesFigures, keep func(series) bool) {
	f.Series = slices.DeleteFunc(f.Series, func(s series) bool { return !keep(s) })
}

// each changes the series of a node.
func each(f *seriesFigures, node string, change func(*series)) {
	for i := range f.Series {
		if f.Series[i].Node == node {
			change(&f.Series[i])
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const pass, fail, unseen = check.Passed, check.Failed, check.Unobserved
	for name, tt := range map[string]struct {
		change  func(*facts)
		verdict check.Verdict
		suspect string
		message string
	}{
		"healthy": {func(*facts) {}, pass, "", ""},
		"host label in capitals": {func(f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Host = "GPU-01" })
			each(f.loaded, "gpu-01", func(s *series) { s.Host = "GPU-01" })
		}, pass, "", ""},
		"host label with its domain": {func(f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Host = "gpu-01.example.com" })
			each(f.loaded, "gpu-01", func(s *series) { s.Host = "gpu-01.example.com" })
		}, pass, "", ""},

		"prometheus is not there": {func(f *facts) {
			*f = facts{idle: f.idle, errs: map[string]string{kindSeries: "ask https://prometheus for /api/v1/query: connection refused"}}
		}, unseen, "Prometheus", "connection refused"},
		"no series at all": {func(f *facts) { f.idle.Series = nil }, fail, "Prometheus", "no series"},
		"an exporter is down": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.targets = &targetFigures{Targets: []prom.Target{{Labels: map[string]string{"node": "gpu-02"}, ScrapeURL: "http://10.0.0.2:9400/metrics", Health: "down", LastError: "connection refused"}}}
		}, fail, "gpu-02", "0 GPUs; it must have 8; its target http://10.0.0.2:9400/metrics is down: connection refused"},
		"an exporter is not scraped": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.targets = &targetFigures{}
		}, fail, "gpu-02", "Prometheus has no target on it"},
		"a series was dropped as old": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.last = &lastFigures{Now: now(), Last: []lastSample{{Host: "gpu-02", At: now().Add(-5 * time.Minute)}}}
		}, fail, "gpu-02", "its last sample is 5m0s old, 30s is the most"},
		"one GPU has no series": {func(f *facts) { f.idle.Series = f.idle.Series[1:] }, fail, "gpu-01", "series of 7 GPUs; it must have 8"},
		"a GPU twice":           {func(f *facts) { f.idle.Series = append(f.idle.Series, f.idle.Series[0]) }, fail, "GPU-0-0", "2 series"},
		"a GPU on two hosts":    {func(f *facts) { f.idle.Series[15].UUID = "GPU-0-0" }, fail, "GPU-0-0", "gpu-01, gpu-02"},
		"no UUID":               {func(f *facts) { f.idle.Series[3].UUID = "" }, fail, "gpu-01/gpu3", "no UUID"},
		"a foreign host": {func(f *facts) {
			f.idle.Series = append(f.idle.Series, series{UUID: "GPU-x", Host: "gpu-77", Sampled: now()})
		}, fail, "gpu-77", "not in the inventory"},
		"stale samples": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Sampled = now().Add(-31 * time.Second) })
		}, fail, "gpu-02", "up to 31s old"},
		"samples of the future": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Sampled = now().Add(time.Hour) })
		}, fail, "gpu-02", "1h0m0s in the future"},
		"hosts of two exporters swapped": {func(f *facts) {
			for _, state := range []*seriesFigures{f.idle, f.loaded} {
				each(state, "gpu-01", func(s *series) { s.Host = "gpu-02" })
				each(state, "gpu-02", func(s *series) { s.Host = "gpu-01" })
			}
		}, fail, "gpu-01", "say that they are of host gpu-02, and are scraped on node gpu-01"},
		"more utilisation than there is": {func(f *facts) {
			each(f.loaded, "gpu-02", func(s *series) { s.Util = 4e9 })
		}, fail, "gpu-02/gpu0", "is no utilisation"},
		"utilisation below zero": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Util = -1 })
		}, fail, "gpu-02/gpu0", "is no utilisation"},
		"late to its receiver": {func(f *facts) { f.alert.Waited = time.Hour }, fail, "receiver on-call", "took 1h0m0s"},
		"another receiver notifies in the same way": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
		}, unseen, "receiver on-call", "receiver watchdog has a webhook too"},
		"another receiver notifies in another way": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "mail", Integrations: []string{"email"}})
		}, pass, "", ""},
		"counted by receiver, and it was ours": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.before.ByReceiver = map[string]prom.Notifications{"on-call": {}}
			f.after.ByReceiver = map[string]prom.Notifications{"on-call": {Total: map[string]float64{"webhook": 1}}}
		}, pass, "", ""},
		"counted by receiver, and it was another": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.before.ByReceiver = map[string]prom.Notifications{"on-call": {}, "watchdog": {}}
			f.after.ByReceiver = map[string]prom.Notifications{"on-call": {}, "watchdog": {Total: map[string]float64{"webhook": 1}}}
		}, fail, "receiver on-call", "sent nothing"},
		"samples just fresh": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Sampled = now().Add(-30 * time.Second) })
		}, pass, "", ""},
		"no host label": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Host = "" })
		}, fail, "gpu-02/Hostname", "without a Hostname label"},
		"no host label, node unknown": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Host, s.Node = "", "" })
		}, fail, "10.0.0.2:9400/Hostname", "without a Hostname label"},

		"no load was put on":      {func(f *facts) { f.load, f.loaded = nil, nil }, unseen, "the load", "not looked at"},
		"the load did not run":    {func(f *facts) { f.errs[kindLoad], f.loaded = "gpu-load did not run: ImagePullBackOff", nil }, unseen, "the load", "ImagePullBackOff"},
		"not seen under load":     {func(f *facts) { f.loaded = nil }, unseen, "Prometheus", "not looked at"},
		"a series does not rise":  {func(f *facts) { f.loaded.Series[11].Util = 3 }, fail, "gpu-02/gpu3", "3 % under full load and was 0 %"},
		"a series is frozen high": {func(f *facts) { f.idle.Series[11].Util = 99 }, fail, "gpu-02/gpu3", "does not move"},
		"a series is gone":        {func(f *facts) { f.loaded.Series = f.loaded.Series[1:] }, fail, "gpu-01", "under load: "},
		"nothing under load":      {func(f *facts) { f.loaded.Series = nil }, fail, "Prometheus", "under load: "},
		"GPUs are held": {func(f *facts) {
			f.usage.Nodes["gpu-02"] = kube.Usage{Allocatable: 8, Requested: 2}
			f.load, f.loaded = nil, nil
		}, unseen, "gpu-02", "only 6 of its 8 GPUs are free"},

		"no alertmanager":           {func(f *facts) { f.alertmanagers.Active = nil }, fail, "Prometheus", "no active Alertmanager"},
		"alertmanager is not there": {func(f *facts) { f.errs[kindReceivers] = "connection refused" }, unseen, "Alertmanager", "connection refused"},
		"no such receiver":          {func(f *facts) { f.receivers.Receivers[0].Name = "none" }, fail, "receiver on-call", "which has: none"},
		"a receiver of nobody":      {func(f *facts) { f.receivers.Receivers[0].Integrations = nil }, fail, "receiver on-call", "tells nobody"},
		"no alert was sent":         {func(f *facts) { f.alert = nil }, unseen, "the synthetic alert", "not looked at"},
		"the alert is lost":         {func(f *facts) { f.alert.Alerts = nil }, fail, "Alertmanager", "does not list it"},
		"the alert goes elsewhere":  {func(f *facts) { f.alert.Alerts[0].Receivers = []string{"null"} }, fail, "receiver on-call", "went to null"},
		"the alert is silenced": {func(f *facts) {
			f.alert.Alerts[0].State, f.alert.Alerts[0].SilencedBy = "suppressed", []string{"s"}
		}, fail, "receiver on-call", "silences [s]"},
		"the alert is not active":      {func(f *facts) { f.alert.Alerts[0].State = "unprocessed" }, fail, "receiver on-call", "unprocessed"},
		"nobody is notified":           {func(f *facts) { f.after.Total["webhook"] = 3 }, fail, "receiver on-call", "sent nothing"},
		"the notification fails":       {func(f *facts) { f.after.Failed["webhook"] = 2 }, fail, "receiver on-call", "failed 1 times"},
		"counters were not read":       {func(f *facts) { f.after = nil }, unseen, "Alertmanager's counters", "not looked at"},
		"counters not read beforehand": {func(f *facts) { f.errs[kindNotifications+"/"+targetBefore] = "gone" }, unseen, "Alertmanager's counters", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			tt.change(&f)
			j := plan.Judge(g, f.observations(t))
			if j.Verdict != tt.verdict {
				t.Fatalf("%s (%s), want %s: %+v", j.Verdict, j.Reason, tt.verdict, j.Findings)
			}
			if tt.verdict == pass {
				if len(j.Findings) > 0 {
					t.Errorf("findings of a pass: %+v", j.Findings)
				}
				return
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message) && f.Remedy != ""
			}) {
				t.Errorf("no finding names %q with %q: %+v", tt.suspect, tt.message, j.Findings)
			}
		})
	}
}

func TestNothingObservedIsNoPass(t *testing.T) {
	t.Parallel()
	g := gate(t)
	if j := g.Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%+v", j)
	}
	g.nodes = nil
	if j := g.Judge(healthy(gate(t)).observations(t)); j.Verdict == check.Passed {
		t.Errorf("an empty inventory passed: %+v", j)
	}
}

// The last observation of a target decides: the first is kept to show the way.
func TestTheLastObservationDecides(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	early := facts{idle: &seriesFigures{Now: now()}}
	j := g.Judge(append(early.observations(t), f.observations(t)...))
	if j.Verdict != check.Passed {
		t.Errorf("%+v", j)
	}
	j = g.Judge(append(f.observations(t), early.observations(t)...))
	if j.Verdict != check.Failed {
		t.Errorf("%+v", j)
	}
}
