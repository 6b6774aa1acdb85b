package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// tolerance of the HPA: no scaling within a tenth of its target
// (kube-controller-manager --horizontal-pod-autoscaler-tolerance, default 0.1).
const tolerance = 0.1

// scaleDownAt is the highest value for which the minimum of replicas suffices; above
// scaleAt the HPA must add one.
func (l lookup) scaleDownAt() float64 { return l.setup.Scale.Target * float64(l.minReplicas()) }
func (l lookup) scaleAt() float64     { return l.scaleDownAt() * (1 + tolerance) }

// value formats a value of the metric with its unit.
func (l lookup) value(v float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, l.setup.Metric.Unit))
}

// good lists the readings without an error since a mark.
func (l lookup) good(readings []snapshot.Reading, mark string) []snapshot.Reading {
	from, ok := l.st.Marks[mark]
	return only(readings, func(r snapshot.Reading) bool { return ok && r.Err == "" && r.At.After(from) })
}

// lastError is the error of the newest reading.
func lastError(readings []snapshot.Reading) string {
	if len(readings) == 0 {
		return ""
	}
	return readings[len(readings)-1].Err
}

// agrees reports whether a value of the metrics API is within a tenth of the range of
// Prometheus' values for the same query since the mark.
func (l lookup) agrees(v float64, prom []snapshot.Reading) bool {
	if len(prom) == 0 {
		return false
	}
	low, high := prom[0].Value, prom[0].Value
	for _, r := range prom {
		low, high = min(low, r.Value), max(high, r.Value)
	}
	return v >= low-slack(low) && v <= high+slack(high)
}

func slack(v float64) float64 { return max(0.1*max(v, -v), 1) }

// maxAge of a sample: two scrapes and 2 s of clock skew.
func (l lookup) maxAge() time.Duration {
	scrape := l.setup.Setting(snapshot.SettingScrape).Value.Duration
	if scrape <= 0 {
		scrape = time.Minute
	}
	return 2*scrape + 2*time.Second
}

// ours reports whether a series is of the run's holder or load.
func (l lookup) ours(s snapshot.Sample) bool {
	return slices.ContainsFunc(l.st.Pods, func(p snapshot.Pod) bool {
		return (p.Role == snapshot.RoleHolder || p.Role == snapshot.RoleLoad) && p.Name == s.Pod && p.Namespace == s.Namespace && s.Pod != ""
	})
}

// componentFindings returns the findings of the series that the value is computed from.
func (l lookup) componentFindings() []check.Finding {
	var out []check.Finding
	had := map[string]bool{}
	for _, s := range l.st.Made {
		gpu := s.Node + "/gpu" + s.GPU
		switch {
		case s.GPU == "" && s.UUID == "":
			out = append(out, finding(s.Node,
				"keep the labels gpu and UUID in the scrape configuration",
				"a series of the value on %s has no GPU label", s.Node))
		case had[s.Node+s.GPU+s.UUID]:
			out = append(out, finding(gpu, "run one exporter on each node and scrape it once", "%s is in the value twice: two series for one GPU", gpu))
		case !l.ours(s):
			out = append(out, finding(gpu,
				"let the adapter's rule use <<.LabelMatchers>>, and the HPA's selector name the namespace and the container",
				"the value is diluted: it includes %s, which neither the load nor the holder uses (%s, %s)", gpu, podUsing(s), l.value(s.Value)))
		case l.st.At.Sub(s.At) > l.maxAge():
			out = append(out, finding(gpu,
				"see the exporter's target on the node in Prometheus (Status, Targets)",
				"the sample of %s is stale: %s old, want at most %s", gpu, seconds(l.st.At.Sub(s.At)), seconds(l.maxAge())))
		}
		had[s.Node+s.GPU+s.UUID] = true
	}
	return out
}

func podUsing(s snapshot.Sample) string {
	if s.Pod == "" {
		return "used by no pod"
	}
	return "pod " + s.Namespace + "/" + s.Pod
}

// valueFindings reports why the metrics API has no value, or a value that differs from
// Prometheus', in the readings since the mark.
func (l lookup) valueFindings(mark string) []check.Finding {
	prom, api := l.good(l.st.Prometheus, mark), l.good(l.st.API, mark)
	var out []check.Finding
	switch {
	case len(api) == 0 && l.notListed():
		out = append(out, l.notServed()...) // a rule without matches sends no query to Prometheus either
	case len(prom) == 0:
		out = append(out, l.noSeries()...)
	case len(api) == 0:
		out = append(out, l.notServed()...)
	}
	if len(prom) > 0 && len(api) > 0 && lastError(l.st.API) == "" {
		if v := api[len(api)-1].Value; !l.agrees(v, prom) {
			out = append(out, finding("adapter rule of "+l.setup.Metric.Name,
				"install the rules of firstlight autoscale rules, or correct metricsQuery: it must use <<.Series>> and <<.LabelMatchers>>",
				"the metrics API returns %s, Prometheus returns %s for the same query (%s): the adapter's rule uses a different query", l.value(v), l.value(prom[len(prom)-1].Value), l.setup.Metric.Query))
		}
	}
	if len(out) == 0 && lastError(l.st.API) == "" {
		return nil
	}
	return append(out, l.relistFindings(mark)...)
}

// noSeries reports why the query returns nothing in Prometheus.
func (l lookup) noSeries() []check.Finding {
	m := l.setup.Metric
	added, labels := l.freshSeries(), map[string]bool{}
	for _, c := range l.st.Coverage {
		for _, name := range c.Labels {
			labels[name] = true
		}
	}
	if added == 0 {
		return []check.Finding{finding("series "+m.Series,
			"see hop series, and the exporters' targets in Prometheus",
			"Prometheus has no fresh series %s", m.Series)}
	}
	message := fmt.Sprintf("label mismatch: Prometheus has %d fresh series %s, but none of the load or the holder with %s", added, m.Series, selector(m.Selector))
	if len(labels) > 0 {
		message += "; their labels: " + join(slices.Sorted(maps.Keys(labels)))
	}
	return []check.Finding{finding("series "+m.Series, labelRemedy(m.Form, labels), "%s", message)}
}

// freshSeries is the number of GPUs with a fresh series in Prometheus.
func (l lookup) freshSeries() int {
	n := 0
	for _, c := range l.st.Coverage {
		n += c.Fresh
	}
	return n
}

// notListed reports a metric that the API does not list although its series exist.
func (l lookup) notListed() bool {
	return l.freshSeries() > 0 && !slices.Contains(l.st.Listed, l.setup.Metric.Name) && (len(l.st.Listed) > 0 || lastError(l.st.API) != "")
}

// labelRemedy names the form that the series have.
func labelRemedy(form string, labels map[string]bool) string {
	switch {
	case form == "plain" && labels["exported_namespace"]:
		return "the workload's labels are in exported_namespace, exported_pod and exported_container: set honorLabels: true for the exporter's target, or use the rules for the exported form"
	case form == "exported" && !labels["exported_namespace"]:
		return "no series has exported_namespace: the target is scraped with honorLabels: true, so use the rules for the plain form"
	default:
		return "let dcgm-exporter add the workload's labels (DCGM_EXPORTER_KUBERNETES=true, kubelet pod-resources mounted); they appear once a pod holds the GPU"
	}
}

func selector(s map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%s=%q", k, s[k]))
	}
	return "{" + join(parts) + "}"
}

// notServed reports why the API has no value although Prometheus has one.
func (l lookup) notServed() []check.Finding {
	m := l.setup.Metric
	rule := "adapter rule of " + m.Name
	if l.notListed() {
		message := fmt.Sprintf("rule without matches: Prometheus has the series, but the metrics API does not list %s; it lists: %s", m.Name, listOrNone(l.st.Listed))
		if l.st.Rules != "" && !strings.Contains(l.st.Rules, m.Series) {
			message += "; no rule of the adapter names " + m.Series
		}
		return []check.Finding{finding(rule,
			"install the rules of firstlight autoscale rules in the adapter's configuration and restart it",
			"%s%s", message, because(lastError(l.st.API)))}
	}
	message := fmt.Sprintf("the metrics API lists %s but has no value for %s%s", m.Name, selector(m.Selector), because(lastError(l.st.API)))
	return []check.Finding{finding(rule, "query it with kubectl get --raw and compare the rule's metricsQuery with "+m.Query, "%s", message)}
}

// relistFindings reports an adapter that relists more often than Prometheus scrapes: it
// drops series between two scrapes.
func (l lookup) relistFindings(mark string) []check.Finding {
	relist, scrape := l.setup.Setting(snapshot.SettingRelist), l.setup.Setting(snapshot.SettingScrape)
	gaps := slices.ContainsFunc(l.st.API, func(r snapshot.Reading) bool { return r.Err != "" && r.At.After(l.st.Marks[mark]) })
	if relist.Value.Duration <= 0 || relist.Value.Duration >= scrape.Value.Duration || !gaps {
		return nil
	}
	return []check.Finding{finding("setting "+snapshot.SettingRelist,
		"set the adapter's --metrics-relist-interval to the scrape interval or longer",
		"the adapter relists every %s (%s), more often than Prometheus scrapes (%s): it drops the series between scrapes", seconds(relist.Value.Duration), relist.Source, seconds(scrape.Value.Duration))}
}
