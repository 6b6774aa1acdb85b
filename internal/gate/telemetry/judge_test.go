package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
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
	s := &site.Site{Telemetry: site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second), Receiver: "on-call", LoadImage: "dcgm", Alert: site.AlertProof{
		Through: site.ThroughAlertmanager, PagesNobody: true, RuleWithin: site.Duration(5 * time.Minute), Labels: map[string]string{"severity": "critical"},
	}}}
	for i := range 2 {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	return New(s, p, Deps{})
}

// facts are what a gate's observations say; nil parts were not observed.
type facts struct {
	idle, loaded  *seriesFigures
	partial       *seriesFigures // under the partial load
	answers       *answersFigures
	others        *otherFigures
	targets       *targetFigures
	last          *lastFigures
	usage         *usageFigures
	load          *loadFigures
	partialLoad   *loadFigures
	alertmanagers *alertmanagerFigures
	receivers     *receiverFigures
	alert         *alertFigures
	end           *endFigures
	before, after *prom.Notifications
	errs          map[string]string // by kind or kind/target
	begun         time.Time         // of the loads' observations
}

// A load begins, runs a minute later, and its series are read now.
func loadRuns() time.Time   { return now().Add(-3 * time.Minute) }
func loadBegins() time.Time { return loadRuns().Add(-time.Minute) }

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

// counters are those of the webhook integrations: notifications begun, given up, and
// requests answered well.
func counters(total, failed, delivered float64) *prom.Notifications {
	return &prom.Notifications{
		Started: 1000, Total: map[string]float64{"webhook": total}, Failed: map[string]float64{"webhook": failed}, Delivered: map[string]float64{"webhook": delivered},
	}
}

func healthy(g *Gate) facts {
	f := facts{
		idle: readings(g, 0), loaded: readings(g, 99),
		usage:         &usageFigures{Nodes: map[string]kube.Usage{}},
		load:          loadOf(g.whole()),
		partialLoad:   loadOf(g.rounds()[0]),
		alertmanagers: &alertmanagerFigures{Active: []string{"https://10.0.0.9:9093/api/v2/alerts"}},
		receivers:     &receiverFigures{AlertEffect: AlertEffect{Consent: true, Reached: []string{"on-call"}}, Receivers: []prom.Receiver{{Name: "on-call", Integrations: []string{"webhook"}}}},
		alert: &alertFigures{
			Through: site.ThroughAlertmanager, WaitedSeconds: 1, Labels: map[string]string{"severity": "critical"},
			Alerts: []prom.AlertState{{Labels: map[string]string{"severity": "critical"}, State: "active", Receivers: []string{"on-call"}}},
		},
		end:    &endFigures{WaitedSeconds: 1},
		before: counters(3, 1, 2),
		after:  counters(4, 1, 3),
		errs:   map[string]string{},
		begun:  loadBegins(),
	}
	for _, n := range g.nodes {
		f.usage.Nodes[n] = kube.Usage{Allocatable: 8}
	}
	f.answers = &answersFigures{}
	for range answersWanted {
		f.answers.Answers = append(f.answers.Answers, answerOf(*f.idle, nil))
	}
	f.partial = under(readings(g, 0), g.rounds()[0])
	f.loaded = under(f.loaded, g.whole())
	return f
}

// aged is an answer whose samples are of another time.
func aged(a answer, by time.Duration) answer {
	out := answer{Now: a.Now, Hosts: map[string]hostAnswer{}}
	for host, h := range a.Hosts {
		h.Oldest = h.Oldest.Add(by)
		out.Hosts[host] = h
	}
	return out
}

// loadOf is a load of so many GPUs a node, a pod each.
func loadOf(want map[string]int) *loadFigures {
	f := &loadFigures{Since: loadRuns(), Namespace: "firstlight-r1", Nodes: map[string]string{}, GPUs: map[string]int{}}
	for node, n := range want {
		f.Nodes["load-"+node], f.GPUs["load-"+node] = node, n
	}
	return f
}

// under puts such a load on the first GPUs of each node; the exporters map them to their pods.
func under(f *seriesFigures, want map[string]int) *seriesFigures {
	left := maps.Clone(want)
	for i := range f.Series {
		s := &f.Series[i]
		if left[s.Host] > 0 {
			left[s.Host]--
			s.Util, s.Namespace, s.Pod = 99, "firstlight-r1", "load-"+s.Host
		}
	}
	return f
}

// swapped exchanges the Hostname of two nodes' series; the scrape says nothing of nodes.
func swapped(f *seriesFigures) {
	for i := range f.Series {
		s := &f.Series[i]
		s.Host = map[string]string{"gpu-01": "gpu-02", "gpu-02": "gpu-01"}[s.Host]
		s.Node = ""
	}
}

func (f facts) observations(t *testing.T) []check.Observation {
	t.Helper()
	var out []check.Observation
	add := func(kind, target string, there bool, figures any) {
		if !there {
			return
		}
		o, err := check.Observation{ID: "id-" + kind, Kind: kind, Target: target, At: now()}.WithFigures(figures)
		if err != nil {
			t.Fatal(err)
		}
		if kind == kindLoad {
			o.At = f.begun
		}
		for _, key := range []string{kind, kind + "/" + target} {
			if why := f.errs[key]; why != "" {
				o.Err, o.Figures = why, nil
			}
		}
		out = append(out, o)
	}
	add(kindSeries, targetIdle, f.idle != nil, f.idle)
	add(kindAnswers, "https://prometheus", f.answers != nil, f.answers)
	add(kindOthers, "prometheus", f.others != nil, f.others)
	add(kindTargets, "prometheus", f.targets != nil, f.targets)
	add(kindLastSamples, "prometheus", f.last != nil, f.last)
	add(kindUsage, "cluster", f.usage != nil, f.usage)
	add(kindLoad, partialTarget(0), f.partialLoad != nil, f.partialLoad)
	add(kindSeries, partialTarget(0), f.partial != nil, f.partial)
	add(kindLoad, targetCluster, f.load != nil, f.load)
	add(kindSeries, targetLoaded, f.loaded != nil, f.loaded)
	add(kindAlertmanagers, "prometheus", f.alertmanagers != nil, f.alertmanagers)
	add(kindReceivers, "alertmanager", f.receivers != nil, f.receivers)
	add(kindNotifications, targetBefore, f.before != nil, f.before)
	add(kindAlert, "alertmanager", f.alert != nil, f.alert)
	add(kindNotifications, targetAfter, f.after != nil, f.after)
	add(kindAlertEnd, "alertmanager", f.end != nil, f.end)
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
			f.answers.Answers[0] = answerOf(*f.idle, nil)
			each(f.partial, "gpu-01", func(s *series) { s.Host = "GPU-01" })
			each(f.loaded, "gpu-01", func(s *series) { s.Host = "GPU-01" })
		}, pass, "", ""},
		"host label with its domain": {func(f *facts) {
			each(f.idle, "gpu-01", func(s *series) { s.Host = "gpu-01.example.com" })
			each(f.partial, "gpu-01", func(s *series) { s.Host = "gpu-01.example.com" })
			each(f.loaded, "gpu-01", func(s *series) { s.Host = "gpu-01.example.com" })
		}, pass, "", ""},

		"prometheus is missing": {func(f *facts) {
			*f = facts{idle: f.idle, errs: map[string]string{kindSeries: "ask https://prometheus for /api/v1/query: connection refused"}}
		}, unseen, "Prometheus", "connection refused"},
		"no series at all": {func(f *facts) { f.idle.Series = nil }, fail, "Prometheus", "no series"},
		"an exporter is down": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.targets = &targetFigures{Targets: []prom.Target{{Labels: map[string]string{"node": "gpu-02"}, ScrapeURL: "http://10.0.0.2:9400/metrics", Health: "down", LastError: "connection refused"}}}
		}, fail, "gpu-02", "0 GPUs, want 8; its target http://10.0.0.2:9400/metrics is down: connection refused"},
		"an exporter is not scraped": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.targets = &targetFigures{}
		}, fail, "gpu-02", "Prometheus has no target on it"},
		"a series was dropped as old": {func(f *facts) {
			of(f.idle, func(s series) bool { return s.Node != "gpu-02" })
			f.last = &lastFigures{Now: now(), Last: []lastSample{{Host: "gpu-02", At: now().Add(-5 * time.Minute)}}}
		}, fail, "gpu-02", "its last sample is 5m0s old, the maximum is 30s"},
		"one GPU has no series": {func(f *facts) { f.idle.Series = f.idle.Series[1:] }, fail, "gpu-01", "series of 7 GPUs, want 8"},
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
			for _, state := range []*seriesFigures{f.idle, f.partial, f.loaded} {
				each(state, "gpu-01", func(s *series) { s.Host = "gpu-02" })
				each(state, "gpu-02", func(s *series) { s.Host = "gpu-01" })
			}
		}, fail, "gpu-01", "have the host label gpu-02 and are scraped on node gpu-01"},
		// All GPUs were loaded at once: two exporters that name each other's node looked healthy.
		"hosts of two exporters swapped, and the scrape names no node": {func(f *facts) {
			for _, state := range []*seriesFigures{f.idle, f.partial, f.loaded} {
				swapped(state)
			}
		}, fail, "gpu-01", "1 GPUs of gpu-01 are loaded, and 2 series"},
		"the other of two exporters swapped": {func(f *facts) {
			for _, state := range []*seriesFigures{f.idle, f.partial, f.loaded} {
				swapped(state)
			}
		}, fail, "gpu-02", "2 GPUs of gpu-02 are loaded, and 1 series"},
		"series name the pod of another GPU": {func(f *facts) {
			of := f.partial.Series[8:] // gpu-02, of which GPUs 0 and 1 are loaded
			of[0].Namespace, of[0].Pod = "", ""
			of[2].Namespace, of[2].Pod = "firstlight-r1", "load-gpu-02"
		}, fail, "gpu-02", "GPU 0 of gpu-02 is used by pod firstlight-r1/load-gpu-02, and its series names no pod"},
		"an idle GPU's series names a pod": {func(f *facts) {
			s := &f.partial.Series[15]
			s.Namespace, s.Pod = "firstlight-r1", "load-gpu-02"
		}, fail, "gpu-02", "GPU 7 of gpu-02 is idle"},
		"series name another node's pod": {func(f *facts) {
			each(f.loaded, "gpu-02", func(s *series) { s.Pod = "load-gpu-01" })
		}, fail, "gpu-02", "names pod firstlight-r1/load-gpu-01"},
		"pods in exported labels": {func(f *facts) {
			for _, state := range []*seriesFigures{f.partial, f.loaded} {
				for i := range state.Series {
					s := &state.Series[i]
					s.ExportedNamespace, s.ExportedPod = s.Namespace, s.Pod
					s.Namespace, s.Pod = "gpu-operator", "exporter"
				}
			}
		}, pass, "", ""},
		"another pod in exported labels": {func(f *facts) {
			each(f.loaded, "gpu-01", func(s *series) {
				s.ExportedNamespace, s.ExportedPod, s.Namespace, s.Pod = "team", "gone", "gpu-operator", "exporter"
			})
		}, fail, "gpu-01", "names pod team/gone"},
		"one exporter maps no pods": {func(f *facts) {
			each(f.loaded, "gpu-01", func(s *series) { s.Namespace, s.Pod = "gpu-operator", "exporter" })
		}, fail, "gpu-01", "names no pod"},
		"no exporter maps pods": {func(f *facts) {
			for _, state := range []*seriesFigures{f.partial, f.loaded} {
				for i := range state.Series {
					state.Series[i].Namespace, state.Series[i].Pod = "gpu-operator", "exporter"
				}
			}
		}, pass, "", ""},
		"no partial load":              {func(f *facts) { f.partialLoad = nil }, unseen, "the load", "was not observed"},
		"not seen under partial load":  {func(f *facts) { f.partial = nil }, unseen, "Prometheus", "was not observed"},
		"the partial load was another": {func(f *facts) { f.partialLoad = loadOf(map[string]int{"gpu-01": 2, "gpu-02": 1}) }, unseen, "the load", "unexpected GPUs"},
		"the load was of fewer GPUs":   {func(f *facts) { f.load.GPUs["load-gpu-02"] = 7 }, unseen, "the load", "unexpected GPUs"},
		"more utilisation than there is": {func(f *facts) {
			each(f.loaded, "gpu-02", func(s *series) { s.Util = 4e9 })
		}, fail, "gpu-02/gpu0", "must be 0 to 100 %"},
		"utilisation below zero": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Util = -1 })
		}, fail, "gpu-02/gpu0", "must be 0 to 100 %"},
		"late to its receiver": {func(f *facts) { f.alert.WaitedSeconds, f.alert.NotYetSeconds = 362, 361 }, fail, "receiver on-call", "after 6m2s"},
		// A process that is not scheduled polls late: when the alert arrived is unknown.
		"seen late at its receiver": {func(f *facts) { f.alert.WaitedSeconds, f.alert.NotYetSeconds = 400, 2 }, unseen, "receiver on-call", "between 2s and 6m40s"},
		"read when it had ended": {func(f *facts) {
			f.alert.WaitedSeconds, f.alert.NotYetSeconds, f.alert.Alerts = 3600, 2, nil
		}, unseen, "receiver on-call", "when it had ended"},
		"series read too early under load":       {func(f *facts) { f.loaded.Series[11].Util, f.load.Since = 3, now().Add(-20*time.Second) }, unseen, "the load", "20s after it ran, and may need 2m30s"},
		"series read too early, and they follow": {func(f *facts) { f.load.Since = now().Add(-20 * time.Second) }, pass, "", ""},
		"series read too early under a partial load": {func(f *facts) {
			swapped(f.partial)
			f.partialLoad.Since = now().Add(-20 * time.Second)
		}, unseen, "the load", "may need 2m30s"},
		"another receiver notifies in the same way": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
		}, unseen, "receiver on-call", "receiver watchdog has a webhook too"},
		"another receiver fails in the same way": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.after.Total["webhook"], f.after.Failed["webhook"] = 5, 2
		}, unseen, "receiver on-call", "receiver watchdog has a webhook too"},
		"another receiver notifies in another way": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "mail", Integrations: []string{"email"}})
		}, pass, "", ""},
		"counted by receiver, and it was ours": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.before.ByReceiver = map[string]prom.Notifications{"on-call": {}}
			f.after.ByReceiver = map[string]prom.Notifications{"on-call": *counters(1, 0, 1)}
		}, pass, "", ""},
		"counted by receiver, and it was another": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.before.ByReceiver = map[string]prom.Notifications{"on-call": {}, "watchdog": {}}
			f.after.ByReceiver = map[string]prom.Notifications{"on-call": {}, "watchdog": *counters(1, 0, 1)}
		}, fail, "receiver on-call", "sent nothing"},
		"begun and still retried, while another receiver delivers": {func(f *facts) {
			f.receivers.Receivers = append(f.receivers.Receivers, prom.Receiver{Name: "watchdog", Integrations: []string{"webhook"}})
			f.before.ByReceiver = map[string]prom.Notifications{"on-call": {}, "watchdog": *counters(7, 0, 7)}
			f.after.ByReceiver = map[string]prom.Notifications{"on-call": *counters(1, 0, 0), "watchdog": *counters(9, 0, 9)}
		}, fail, "receiver on-call", "0 of 1 integrations webhook"},
		"begun and still retried": {func(f *facts) { f.after.Delivered["webhook"] = 2 }, fail, "receiver on-call", "still retries"},
		"one of two webhooks delivers": {func(f *facts) {
			f.receivers.Receivers[0].Integrations = []string{"webhook", "webhook"}
			f.after.Total["webhook"] = 5
		}, fail, "receiver on-call", "1 of 2 integrations webhook"},
		"both of two webhooks deliver": {func(f *facts) {
			f.receivers.Receivers[0].Integrations = []string{"webhook", "webhook"}
			f.after.Total["webhook"], f.after.Delivered["webhook"] = 5, 4
		}, pass, "", ""},
		// Each replica counts for itself: an earlier notification of another replica looked like ours.
		"another replica's counters": {func(f *facts) {
			f.before.Started, f.after.Started = 1000, 2000
			f.after.Total["webhook"], f.after.Delivered["webhook"] = 40, 40
		}, unseen, "receiver on-call", "not of the same Alertmanager"},
		"restarted meanwhile": {func(f *facts) {
			f.before.Started, f.after = 1000, counters(1, 0, 1)
			f.after.Started = 2000
		}, unseen, "receiver on-call", "not of the same Alertmanager"},
		"another replica has the alert": {func(f *facts) {
			f.before.Members, f.after.Members, f.alert.Alerts = 2, 2, nil
		}, unseen, "Alertmanager", "has 2 members"},
		"another replica may have sent it": {func(f *facts) {
			f.before.Members, f.after = 2, counters(3, 1, 2)
			f.after.Members = 2
		}, unseen, "receiver on-call", "has 2 members"},
		"one of two replicas sent it": {func(f *facts) { f.before.Members, f.after.Members = 2, 2 }, pass, "", ""},
		"one of two replicas retries": {func(f *facts) {
			f.before.Members, f.after.Members, f.after.Delivered["webhook"] = 2, 2, 2
		}, fail, "receiver on-call", "still retries"},
		"requests are not counted": {func(f *facts) { f.before.Delivered, f.after.Delivered = nil, nil }, unseen, "receiver on-call", "is unknown"},
		"samples just fresh": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Sampled = now().Add(-30 * time.Second) })
		}, pass, "", ""},
		"no host label": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Host = "" })
		}, fail, "gpu-02/Hostname", "without a Hostname label"},
		"no host label, node unknown": {func(f *facts) {
			each(f.idle, "gpu-02", func(s *series) { s.Host, s.Node = "", "" })
		}, fail, "10.0.0.2:9400/Hostname", "without a Hostname label"},

		"one of two replicas has no samples": {func(f *facts) {
			for i := range f.answers.Answers {
				if i%2 == 1 {
					f.answers.Answers[i].Hosts = nil
				}
			}
		}, unseen, "Prometheus", "6 of 12 answers are incomplete (gpu-01 has series of 0 of 8 GPUs"},
		"one replica's samples are old": {func(f *facts) { f.answers.Answers[3] = aged(f.answers.Answers[3], -31*time.Second) },
			fail, "Prometheus", "1 of 12 answers are incomplete (samples of gpu-01 are 31s older than in an earlier answer"},
		"all answers are late alike": {func(f *facts) {
			for i := range f.answers.Answers {
				f.answers.Answers[i] = aged(f.answers.Answers[i], -time.Minute)
			}
			f.answers.Answers[11] = aged(f.answers.Answers[11], time.Minute)
		}, pass, "", ""},
		"one replica does not answer": {func(f *facts) {
			f.answers.Answers[3] = answer{Err: "503 Service Unavailable"}
		}, unseen, "Prometheus", "503 Service Unavailable"},
		// A scrape that fails for a moment looked like another replica.
		"one process misses a scrape": {func(f *facts) {
			for i := range f.answers.Answers {
				f.answers.Answers[i].Process = "prometheus-0 2026-11-21T00:00:00Z"
			}
			f.answers.Answers[3].Hosts = nil
		}, unseen, "Prometheus", "all are of one process"},
		"two processes, and one misses a scrape": {func(f *facts) {
			for i := range f.answers.Answers {
				f.answers.Answers[i].Process = fmt.Sprintf("prometheus-%d 2026-11-21T00:00:00Z", i%2)
			}
			f.answers.Answers[3].Hosts = nil
		}, fail, "Prometheus", "several Prometheus replicas answer"},
		"no answer was read": {func(f *facts) {
			for i := range f.answers.Answers {
				f.answers.Answers[i] = answer{Err: "connection refused"}
			}
		}, unseen, "Prometheus", "connection refused"},
		"replicas not observed":    {func(f *facts) { f.answers = nil }, unseen, "Prometheus' replicas", "was not observed"},
		"too few answers observed": {func(f *facts) { f.answers.Answers = f.answers.Answers[:3] }, unseen, "Prometheus' replicas", "only 3 answers"},
		"no load was put on":       {func(f *facts) { f.load, f.loaded = nil, nil }, unseen, "the load", "was not observed"},
		"the load did not run":     {func(f *facts) { f.errs[kindLoad], f.loaded = "gpu-load did not run: ImagePullBackOff", nil }, unseen, "the load", "ImagePullBackOff"},
		"not seen under load":      {func(f *facts) { f.loaded = nil }, unseen, "Prometheus", "was not observed"},
		"a series does not rise":   {func(f *facts) { f.loaded.Series[11].Util = 3 }, fail, "gpu-02/gpu3", "3 % under full load and was 0 %"},
		"a series is frozen high":  {func(f *facts) { f.idle.Series[11].Util = 99 }, fail, "gpu-02/gpu3", "with and without load"},
		"a series is gone":         {func(f *facts) { f.loaded.Series = f.loaded.Series[1:] }, fail, "gpu-01", "under load: "},
		"nothing under load":       {func(f *facts) { f.loaded.Series = nil }, fail, "Prometheus", "under load: "},
		"GPUs are held": {func(f *facts) {
			f.usage.Nodes["gpu-02"] = kube.Usage{Allocatable: 8, Requested: 2}
			f.load, f.loaded = nil, nil
		}, unseen, "gpu-02", "only 6 of its 8 GPUs are free"},

		"no alertmanager":                 {func(f *facts) { f.alertmanagers.Active = nil }, fail, "Prometheus", "no active Alertmanager"},
		"alertmanager is missing":         {func(f *facts) { f.errs[kindReceivers] = "connection refused" }, unseen, "Alertmanager", "connection refused"},
		"no such receiver":                {func(f *facts) { f.receivers.Receivers[0].Name = "none" }, fail, "receiver on-call", "which has: none"},
		"a receiver without integrations": {func(f *facts) { f.receivers.Receivers[0].Integrations = nil }, fail, "receiver on-call", "notifies nothing"},
		"no alert was sent":               {func(f *facts) { f.alert = nil }, unseen, "the synthetic alert", "was not observed"},
		"the alert is lost":               {func(f *facts) { f.alert.Alerts = nil }, fail, "Alertmanager", "does not list it"},
		"the alert goes elsewhere":        {func(f *facts) { f.alert.Alerts[0].Receivers = []string{"null"} }, fail, "receiver on-call", "went to null"},
		"the alert is silenced": {func(f *facts) {
			f.alert.Alerts[0].State, f.alert.Alerts[0].SilencedBy = "suppressed", []string{"s"}
		}, fail, "receiver on-call", "silences [s]"},
		"the route is muted": {func(f *facts) {
			f.alert.Alerts[0].State, f.alert.Alerts[0].MutedBy = "suppressed", []string{"offhours"}
		}, fail, "receiver on-call", "muted by the time intervals [offhours]"},
		"the alert is not active":      {func(f *facts) { f.alert.Alerts[0].State = "unprocessed" }, fail, "receiver on-call", "unprocessed"},
		"no receiver is notified":      {func(f *facts) { f.after.Total["webhook"] = 3 }, fail, "receiver on-call", "sent nothing"},
		"the notification fails":       {func(f *facts) { f.after.Failed["webhook"] = 2 }, fail, "receiver on-call", "failed 1 times"},
		"counters were not read":       {func(f *facts) { f.after = nil }, unseen, "Alertmanager's counters", "was not observed"},
		"counters not read beforehand": {func(f *facts) { f.errs[kindNotifications+"/"+targetBefore] = "gone" }, unseen, "Alertmanager's counters", "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			f := healthy(g)
			tt.change(&f)
			checktest.Judged(t, plan.Judge(g, f.observations(t)), tt.verdict, tt.suspect, tt.message)
		})
	}
}

// A load under which a series names the wrong pod is the last: the missing readings of
// other loads are not a finding.
func TestAWrongPodEndsTheLoads(t *testing.T) {
	t.Parallel()
	g := gate(t)
	f := healthy(g)
	f.partial.Series[15].Namespace, f.partial.Series[15].Pod = "firstlight-r1", "load-gpu-02"
	f.load, f.loaded = nil, nil
	j := g.Judge(f.observations(t))
	if j.Verdict != check.Failed || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
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

// Over all rounds no two nodes are loaded alike, and where a node has GPUs enough it is
// loaded in part.
func TestRoundsTellNodesApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ nodes, gpus, rounds int }{
		{1, 1, 0}, {1, 2, 0}, {1, 8, 1}, {2, 1, 1}, {3, 1, 2}, {3, 3, 2}, {4, 2, 2}, {4, 8, 1}, {7, 8, 1}, {8, 8, 2}, {49, 8, 2}, {1024, 8, 4}, {1024, 1, 10}, {3, 0, 0}, {0, 8, 1},
	} {
		g := &Gate{gpus: tt.gpus}
		for i := range tt.nodes {
			g.nodes = append(g.nodes, fmt.Sprint(i))
		}
		rounds := g.rounds()
		if len(rounds) != tt.rounds {
			t.Errorf("%d nodes of %d GPUs: %d rounds, want %d", tt.nodes, tt.gpus, len(rounds), tt.rounds)
		}
		seen := map[string]bool{}
		for _, node := range g.nodes {
			var code []int
			for _, r := range rounds {
				code = append(code, r[node])
				if n := r[node]; n < 0 || n > tt.gpus || tt.gpus > 2 && (n == 0 || n == tt.gpus) {
					t.Errorf("%d GPUs of %d", n, tt.gpus)
				}
			}
			if key := fmt.Sprint(code); len(rounds) > 0 && seen[key] {
				t.Errorf("%d nodes of %d GPUs: two are loaded %v", tt.nodes, tt.gpus, code)
			} else {
				seen[key] = true
			}
		}
	}
}
