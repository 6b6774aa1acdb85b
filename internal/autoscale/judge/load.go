package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// load requires that the load's pods run on initial GPU nodes.
func load(l lookup) Result {
	pods := active(l.since(snapshot.RoleLoad, snapshot.MarkLoad))
	gpus := 0
	for _, p := range pods {
		gpus += p.GPUs
	}
	if i := slices.IndexFunc(pods, func(p snapshot.Pod) bool { return p.Node != "" && !l.existed(p.Node) }); i >= 0 {
		return l.fail(pods[i].Ref, finding(suspect(pods[i].Ref),
			"free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs",
			"%s of the load runs on %s, which did not exist before: a node was added for the load itself", suspect(pods[i].Ref), pods[i].Node))
	}
	if waiting := only(pods, func(p snapshot.Pod) bool { return !running(p) }); len(waiting) > 0 {
		p := waiting[0]
		return l.wait(p.Ref, l.whyNotRunning(waiting), finding(suspect(p.Ref), "see its events", "%s of the load is not running", suspect(p.Ref)))
	}
	if gpus < max(1, l.setup.Scale.LoadGPUs) {
		return l.wait(snapshot.Ref{}, append(l.ended(snapshot.RoleLoad), l.createFailures()...), finding("namespace "+l.setup.Namespace,
			"free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs; see the Job's events",
			"the load holds %d of %d GPUs with %s running", gpus, l.setup.Scale.LoadGPUs, count(len(pods), "pod")))
	}
	last := lastOf(pods, func(p snapshot.Pod) time.Time { return p.ReadyAt })
	return l.pass(last.ReadyAt, last.Ref, "%s of the load hold %s on %s", count(len(pods), "pod"), count(gpus, "GPU"), join(nodesUsed(pods)))
}

func nodesUsed(pods []snapshot.Pod) []string {
	var out []string
	for _, p := range pods {
		if !slices.Contains(out, p.Node) {
			out = append(out, p.Node)
		}
	}
	slices.Sort(out)
	return out
}

// ended reports pods of a role that ended too early.
func (l lookup) ended(role string) []check.Finding {
	var out []check.Finding
	for _, p := range l.role(role) {
		if p.Phase == "Failed" || p.Phase == "Succeeded" {
			out = append(out, finding(suspect(p.Ref),
				"see its log; check that the image of site telemetry.loadImage runs on this GPU",
				"%s has ended: %s%s", suspect(p.Ref), p.Phase, because(p.Why)))
		}
	}
	return out
}

// exporter requires that the sample of every GPU of the load has risen.
func exporter(l lookup) Result {
	pods := active(l.since(snapshot.RoleLoad, snapshot.MarkLoad))
	want := 0
	for _, p := range pods {
		want += p.GPUs
	}
	risen, flat := l.samples()
	if want > 0 && len(risen) >= want && len(flat) == 0 {
		last := lastOf(risen, func(r snapshot.Reading) time.Time { return r.At })
		return l.pass(last.At, snapshot.Ref{Kind: "GPU", Name: last.Where}, "%s rose on %s: %s on %s", l.setup.Metric.Series, count(len(risen), "GPU"), l.value(last.Value), last.Where)
	}
	return l.wait(snapshot.Ref{Kind: "GPU", Name: firstWhere(flat)}, l.stuckSamples(flat), finding("dcgm-exporter",
		"see the dcgm-exporter pods of the load's nodes: "+join(nodesUsed(pods)),
		"the exporters show %d of the load's %s", len(risen), count(want, "GPU")))
}

// samples returns, for each GPU read under load, the first reading that has risen, else
// its newest.
func (l lookup) samples() (risen, flat []snapshot.Reading) {
	after := l.good(l.st.Exporter, snapshot.MarkLoad)
	of := func(list []snapshot.Reading, where string) bool {
		return slices.ContainsFunc(list, func(r snapshot.Reading) bool { return r.Where == where })
	}
	for _, r := range after {
		base, known := l.idle(r.Where)
		if known && r.Value > 1.5*max(base, 0) && !of(risen, r.Where) {
			risen = append(risen, r)
		}
	}
	for _, r := range slices.Backward(after) {
		if !of(risen, r.Where) && !of(flat, r.Where) {
			flat = append(flat, r)
		}
	}
	return risen, flat
}

func firstWhere(readings []snapshot.Reading) string {
	if len(readings) == 0 {
		return ""
	}
	return readings[0].Where
}

// idle is the highest value of a GPU before the load, or of any GPU where this one was
// not read.
func (l lookup) idle(where string) (float64, bool) {
	from := l.st.Marks[snapshot.MarkLoad]
	before := only(l.st.Exporter, func(r snapshot.Reading) bool { return r.Err == "" && !r.At.After(from) })
	if own := only(before, func(r snapshot.Reading) bool { return r.Where == where }); len(own) > 0 {
		before = own
	}
	if len(before) == 0 {
		return 0, false
	}
	return slices.MaxFunc(before, func(a, b snapshot.Reading) int { return cmp.Compare(a.Value, b.Value) }).Value, true
}

func (l lookup) stuckSamples(flat []snapshot.Reading) []check.Finding {
	var out []check.Finding
	for _, r := range flat {
		base, known := l.idle(r.Where)
		baseText := "an unknown value"
		if known {
			baseText = l.value(base)
		}
		out = append(out, finding(r.Where,
			"compare with nvidia-smi on the node; see the exporter's collection interval ("+l.interval(snapshot.SettingSample)+") and its log",
			"the sample of %s is %s under load and was %s before: it did not rise", r.Where, l.value(r.Value), baseText))
	}
	return out
}

// interval formats a setting with its source.
func (l lookup) interval(name string) string {
	s := l.setup.Setting(name)
	if s.Source == "" {
		return name + " unknown"
	}
	return fmt.Sprintf("%s %s, %s", name, seconds(s.Value.Duration), s.Source)
}

// prometheus requires a value above the target in Prometheus.
func prometheus(l lookup) Result {
	query := snapshot.Ref{Kind: "query", Name: l.setup.Metric.Query}
	good := l.good(l.st.Prometheus, snapshot.MarkLoad)
	if first, ok := l.firstAbove(good); ok {
		return l.pass(first.At, query, "%s, above %s", l.value(first.Value), l.value(l.scaleAt()))
	}
	if len(good) == 0 {
		return l.wait(query, l.noSeries(), check.Finding{})
	}
	return l.wait(query, nil, finding("series "+l.setup.Metric.Series,
		"check that it contains the load's GPUs: their labels, scrape interval ("+l.interval(snapshot.SettingScrape)+"), rate window ("+l.interval(snapshot.SettingWindow)+")",
		"the value is %s in Prometheus, want above %s; its series: %s", l.value(good[len(good)-1].Value), l.value(l.scaleAt()), l.components()))
}

func (l lookup) firstAbove(readings []snapshot.Reading) (snapshot.Reading, bool) {
	i := slices.IndexFunc(readings, func(r snapshot.Reading) bool { return l.scaleDownAt() > 0 && r.Value > l.scaleAt() })
	if i < 0 {
		return snapshot.Reading{}, false
	}
	return readings[i], true
}

// metricsAPI requires a value above the target at the metrics API.
func metricsAPI(l lookup) Result {
	good := l.good(l.st.API, snapshot.MarkLoad)
	if first, ok := l.firstAbove(good); ok {
		return l.pass(first.At, l.metricRef(), "%s = %s, above %s", l.setup.Metric.Name, l.value(first.Value), l.value(l.scaleAt()))
	}
	wrong := l.valueFindings(snapshot.MarkLoad)
	if p, found := l.program("adapter"); found {
		wrong = append(programFindings(p, "the metrics adapter", "site autoscale.adapter"), wrong...)
	}
	if api, existed := l.api(); existed {
		wrong = append(apiFindings(api), wrong...)
	}
	now := "no value"
	if len(good) > 0 {
		now = l.value(good[len(good)-1].Value)
	}
	return l.wait(l.metricRef(), wrong, finding(l.metricRef().String(),
		"query it with kubectl get --raw; see the adapter's log",
		"the metrics API returns %s, Prometheus a value above %s", strings.TrimSpace(now), l.value(l.scaleAt())))
}
