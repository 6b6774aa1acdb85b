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

// tolerance of the HPA: it does not scale within a tenth of its target
// (kube-controller-manager --horizontal-pod-autoscaler-tolerance, default 0.1).
const tolerance = 0.1

// rest is the highest value at which the least number of replicas is enough;
// above scaleAt the HPA must add one.
func (l look) rest() float64    { return l.setup.Scale.Target * float64(l.least()) }
func (l look) scaleAt() float64 { return l.rest() * (1 + tolerance) }

// value writes a value of the metric.
func (l look) value(v float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.4g %s", v, l.setup.Metric.Unit))
}

// good are the readings that are values, since a mark.
func (l look) good(readings []snapshot.Reading, mark string) []snapshot.Reading {
	from, ok := l.st.Marks[mark]
	return only(readings, func(r snapshot.Reading) bool { return ok && r.Err == "" && r.At.After(from) })
}

// lastError is why the newest reading is no value; empty when it is one.
func lastError(readings []snapshot.Reading) string {
	if len(readings) == 0 {
		return ""
	}
	return readings[len(readings)-1].Err
}

// agrees holds a value of the metrics API against what Prometheus said to the
// same query: within a tenth of the range since the mark.
func (l look) agrees(v float64, prom []snapshot.Reading) bool {
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

// maxAge of a sample: two scrapes, and a second or two for clocks.
func (l look) maxAge() time.Duration {
	scrape := l.setup.Setting(snapshot.SettingScrape).Value
	if scrape <= 0 {
		scrape = time.Minute
	}
	return 2*scrape + 2*time.Second
}

// ours says that a series is of the run's holder or load.
func (l look) ours(s snapshot.Sample) bool {
	return slices.ContainsFunc(l.st.Pods, func(p snapshot.Pod) bool {
		return (p.Role == snapshot.RoleHolder || p.Role == snapshot.RoleLoad) && p.Name == s.Pod && p.Namespace == s.Namespace && s.Pod != ""
	})
}

// madeFindings are what is wrong with what the value is made of.
func (l look) madeFindings() []check.Finding {
	var out []check.Finding
	had := map[string]bool{}
	for _, s := range l.st.Made {
		gpu := s.Node + "/gpu" + s.GPU
		switch {
		case s.GPU == "" && s.UUID == "":
			out = append(out, finding(s.Node, fmt.Sprintf("a series of the value on %s does not say which GPU it is of", s.Node), "keep the labels gpu and UUID in the scrape configuration"))
		case had[s.Node+s.GPU+s.UUID]:
			out = append(out, finding(gpu, fmt.Sprintf("%s is in the value twice: two series for one GPU", gpu), "see that one exporter a node runs and is scraped once"))
		case !l.ours(s):
			out = append(out, finding(gpu, fmt.Sprintf("the value is diluted: %s counts though neither the load nor the holder uses it (%s, %s)", gpu, whose(s), l.value(s.Value)),
				"let the adapter's rule use <<.LabelMatchers>>, and the HPA's selector name the namespace and the container"))
		case l.st.At.Sub(s.At) > l.maxAge():
			out = append(out, finding(gpu, fmt.Sprintf("the sample of %s is stale: %s old, at most %s is fresh", gpu, seconds(l.st.At.Sub(s.At)), seconds(l.maxAge())),
				"see the exporter's target on the node in Prometheus (Status, Targets)"))
		}
		had[s.Node+s.GPU+s.UUID] = true
	}
	return out
}

func whose(s snapshot.Sample) string {
	if s.Pod == "" {
		return "no pod uses it"
	}
	return "pod " + s.Namespace + "/" + s.Pod
}

// valueFindings are why the metrics API has no value, or another than Prometheus.
// The readings are those since the mark.
func (l look) valueFindings(mark string) []check.Finding {
	prom, api := l.good(l.st.Prometheus, mark), l.good(l.st.API, mark)
	var out []check.Finding
	switch {
	case len(api) == 0 && l.unlisted():
		out = append(out, l.notServed()...) // a rule that matches nothing asks Prometheus nothing, either
	case len(prom) == 0:
		out = append(out, l.noSeries()...)
	case len(api) == 0:
		out = append(out, l.notServed()...)
	}
	if len(prom) > 0 && len(api) > 0 && lastError(l.st.API) == "" {
		if v := api[len(api)-1].Value; !l.agrees(v, prom) {
			out = append(out, finding("adapter rule of "+l.setup.Metric.Name,
				fmt.Sprintf("the metrics API says %s, Prometheus says %s to the same question (%s): the adapter's rule asks something else", l.value(v), l.value(prom[len(prom)-1].Value), l.setup.Metric.Query),
				"install the rules of firstlight autoscale rules, or correct metricsQuery: it must use <<.Series>> and <<.LabelMatchers>>"))
		}
	}
	if len(out) == 0 && lastError(l.st.API) == "" {
		return nil
	}
	return append(out, l.relistFindings(mark)...)
}

// noSeries says why the query finds nothing in Prometheus.
func (l look) noSeries() []check.Finding {
	m := l.setup.Metric
	fresh, labels := l.fresh(), map[string]bool{}
	for _, c := range l.st.Coverage {
		for _, name := range c.Labels {
			labels[name] = true
		}
	}
	if fresh == 0 {
		return []check.Finding{finding("series "+m.Series, "Prometheus has no fresh series "+m.Series, "see hop series, and the exporters' targets in Prometheus")}
	}
	message := fmt.Sprintf("label mismatch: Prometheus has %d fresh series %s, and none of the load's and the holder's with %s", fresh, m.Series, selector(m.Selector))
	if len(labels) > 0 {
		message += "; they have the labels " + join(slices.Sorted(maps.Keys(labels)))
	}
	return []check.Finding{finding("series "+m.Series, message, labelRemedy(m.Form, labels))}
}

// fresh is how many GPUs have a fresh series in Prometheus.
func (l look) fresh() int {
	n := 0
	for _, c := range l.st.Coverage {
		n += c.Fresh
	}
	return n
}

// unlisted says that the API does not have the metric, though there are series
// that it could be made of.
func (l look) unlisted() bool {
	return l.fresh() > 0 && !slices.Contains(l.st.Listed, l.setup.Metric.Name) && (len(l.st.Listed) > 0 || lastError(l.st.API) != "")
}

// labelRemedy says which of the two forms the series have.
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

// notServed says why the API has no value though Prometheus has one.
func (l look) notServed() []check.Finding {
	m := l.setup.Metric
	rule := "adapter rule of " + m.Name
	if l.unlisted() {
		message := fmt.Sprintf("rule without matches: Prometheus has the series, but the metrics API does not list %s; it lists: %s", m.Name, some(l.st.Listed))
		if l.st.Rules != "" && !strings.Contains(l.st.Rules, m.Series) {
			message += "; none of the adapter's rules names " + m.Series
		}
		return []check.Finding{finding(rule, message+because(lastError(l.st.API)), "install the rules of firstlight autoscale rules in the adapter's configuration and restart it")}
	}
	message := fmt.Sprintf("the metrics API lists %s and has no value for %s%s", m.Name, selector(m.Selector), because(lastError(l.st.API)))
	return []check.Finding{finding(rule, message, "ask it by hand: kubectl get --raw, and compare the rule's metricsQuery with "+m.Query)}
}

// relistFindings: an adapter that relists more often than Prometheus scrapes
// forgets series between two scrapes.
func (l look) relistFindings(mark string) []check.Finding {
	relist, scrape := l.setup.Setting(snapshot.SettingRelist), l.setup.Setting(snapshot.SettingScrape)
	gaps := slices.ContainsFunc(l.st.API, func(r snapshot.Reading) bool { return r.Err != "" && r.At.After(l.st.Marks[mark]) })
	if relist.Value <= 0 || relist.Value >= scrape.Value || !gaps {
		return nil
	}
	return []check.Finding{finding("setting "+snapshot.SettingRelist,
		fmt.Sprintf("the adapter relists every %s (%s), more often than Prometheus scrapes (%s): between scrapes it forgets the series", seconds(relist.Value), relist.Source, seconds(scrape.Value)),
		"set the adapter's --metrics-relist-interval to the scrape interval or longer")}
}
