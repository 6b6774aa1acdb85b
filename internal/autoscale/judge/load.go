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

// load: the load's pods run, on GPUs that were there before.
func load(l look) Result {
	needs := []string{snapshot.ProblemPods}
	pods := alive(l.since(snapshot.RoleLoad, snapshot.MarkLoad))
	gpus := 0
	for _, p := range pods {
		gpus += p.GPUs
	}
	if i := slices.IndexFunc(pods, func(p snapshot.Pod) bool { return p.Node != "" && !l.there(p.Node) }); i >= 0 {
		return l.broken(pods[i].Ref, finding(suspect(pods[i].Ref), fmt.Sprintf("%s of the load runs on %s, which was not there before: a node came for the load itself", suspect(pods[i].Ref), pods[i].Node),
			"free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs"))
	}
	if waiting := only(pods, func(p snapshot.Pod) bool { return !runs(p) }); len(waiting) > 0 {
		p := waiting[0]
		return l.wait(p.Ref, needs, l.whyNotRunning(waiting), finding(suspect(p.Ref), suspect(p.Ref)+" of the load does not run", "see its events"))
	}
	if len(pods) == 0 || gpus < max(1, l.setup.Scale.LoadGPUs) {
		return l.wait(snapshot.Ref{}, needs, append(l.ended(snapshot.RoleLoad), l.refused()...), finding("namespace "+l.setup.Namespace, fmt.Sprintf("the load holds %d of %d GPUs: %s of it run", gpus, l.setup.Scale.LoadGPUs, count(len(pods), "pod")),
			"free GPUs on the nodes of the inventory, or lower site autoscale.loadGPUs; see the Job's events"))
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

// ended names pods of a role that are over and should not be.
func (l look) ended(role string) []check.Finding {
	var out []check.Finding
	for _, p := range l.role(role) {
		if p.Phase == "Failed" || p.Phase == "Succeeded" {
			out = append(out, finding(suspect(p.Ref), fmt.Sprintf("%s has ended: %s%s", suspect(p.Ref), p.Phase, because(p.Why)), "see its log, and that the image of site telemetry.loadImage runs on this GPU"))
		}
	}
	return out
}

// exporter: the sample of every GPU of the load has risen.
func exporter(l look) Result {
	needs := []string{snapshot.ProblemExporter}
	pods := alive(l.since(snapshot.RoleLoad, snapshot.MarkLoad))
	want := 0
	for _, p := range pods {
		want += p.GPUs
	}
	risen, flat := l.samples()
	if want > 0 && len(risen) >= want && len(flat) == 0 {
		last := lastOf(risen, func(r snapshot.Reading) time.Time { return r.At })
		return l.pass(last.At, snapshot.Ref{Kind: "GPU", Name: last.Where}, "%s rose on %s: %s on %s", l.setup.Metric.Series, count(len(risen), "GPU"), l.value(last.Value), last.Where)
	}
	return l.wait(snapshot.Ref{Kind: "GPU", Name: firstWhere(flat)}, needs, l.stuckSamples(flat), finding("dcgm-exporter", fmt.Sprintf("the exporters show %d of the load's %s", len(risen), count(want, "GPU")), "see the dcgm-exporter pods of the load's nodes: "+join(nodesUsed(pods))))
}

// samples are, of each GPU that was read under load, the first reading that has
// risen, or else its newest.
func (l look) samples() (risen, flat []snapshot.Reading) {
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

// idle is the highest value of a GPU before the load; where it was not read,
// the highest of any.
func (l look) idle(where string) (float64, bool) {
	from, ok := l.st.Marks[snapshot.MarkLoad]
	before := only(l.st.Exporter, func(r snapshot.Reading) bool { return ok && r.Err == "" && !r.At.After(from) })
	if own := only(before, func(r snapshot.Reading) bool { return r.Where == where }); len(own) > 0 {
		before = own
	}
	if len(before) == 0 {
		return 0, false
	}
	return slices.MaxFunc(before, func(a, b snapshot.Reading) int { return cmp.Compare(a.Value, b.Value) }).Value, true
}

func (l look) stuckSamples(flat []snapshot.Reading) []check.Finding {
	var out []check.Finding
	for _, r := range flat {
		base, known := l.idle(r.Where)
		was := "an unknown value"
		if known {
			was = l.value(base)
		}
		out = append(out, finding(r.Where, fmt.Sprintf("the sample of %s is %s under load and was %s before: it does not follow", r.Where, l.value(r.Value), was),
			"compare with nvidia-smi on the node; see the exporter's collection interval ("+l.interval(snapshot.SettingSample)+") and its log"))
	}
	return out
}

// interval writes a setting with where it was found.
func (l look) interval(name string) string {
	s := l.setup.Setting(name)
	if s.Source == "" {
		return name + " unknown"
	}
	return fmt.Sprintf("%s %s, %s", name, seconds(s.Value), s.Source)
}

// prometheus: the value rises above the target in Prometheus.
func prometheus(l look) Result {
	needs := []string{snapshot.ProblemPrometheus}
	query := snapshot.Ref{Kind: "query", Name: l.setup.Metric.Query}
	good := l.good(l.st.Prometheus, snapshot.MarkLoad)
	if first, ok := l.firstAbove(good); ok {
		return l.pass(first.At, query, "%s, above %s", l.value(first.Value), l.value(l.scaleAt()))
	}
	if len(good) == 0 {
		return l.wait(query, needs, l.noSeries(), check.Finding{})
	}
	return l.wait(query, needs, nil, finding("series "+l.setup.Metric.Series, fmt.Sprintf("the value is %s in Prometheus, and has to rise above %s; it is made of %s", l.value(good[len(good)-1].Value), l.value(l.scaleAt()), l.made()),
		"see that the load's GPUs are in it: their labels, scrape interval ("+l.interval(snapshot.SettingScrape)+"), rate window ("+l.interval(snapshot.SettingWindow)+")"))
}

func (l look) firstAbove(readings []snapshot.Reading) (snapshot.Reading, bool) {
	i := slices.IndexFunc(readings, func(r snapshot.Reading) bool { return l.rest() > 0 && r.Value > l.scaleAt() })
	if i < 0 {
		return snapshot.Reading{}, false
	}
	return readings[i], true
}

// metricsAPI: the value rises above the target at the metrics API.
func metricsAPI(l look) Result {
	needs := []string{snapshot.ProblemMetricsAPI}
	good := l.good(l.st.API, snapshot.MarkLoad)
	if first, ok := l.firstAbove(good); ok {
		return l.pass(first.At, l.metricRef(), "%s = %s, above %s", l.setup.Metric.Name, l.value(first.Value), l.value(l.scaleAt()))
	}
	wrong := l.valueFindings(snapshot.MarkLoad)
	if p, stated := l.program("adapter"); stated {
		wrong = append(programFindings(p, "the metrics adapter", "site autoscale.adapter"), wrong...)
	}
	if api, there := l.api(); there {
		wrong = append(apiFindings(api), wrong...)
	}
	now := "no value"
	if len(good) > 0 {
		now = l.value(good[len(good)-1].Value)
	}
	return l.wait(l.metricRef(), needs, wrong, finding(l.metricRef().String(), fmt.Sprintf("the metrics API has %s, Prometheus has a value above %s", strings.TrimSpace(now), l.value(l.scaleAt())), "ask it by hand with kubectl get --raw; see the adapter's log"))
}
