package slo

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firstlight/firstlight/internal/check"
)

// Options of the rules.
type Options struct {
	// Site and Cluster are labels of the metrics: the site's name and the UID of the cluster.
	Site, Cluster string
	// Figures are those of the verdicts of the accepted run, by gate.
	Figures map[string][]check.Figure
	// Selector has label matchers of the inference servers' series, as in PromQL: `namespace="chat"`.
	Selector string
	// MaxAge is how old the newest run may be.
	MaxAge time.Duration
	// shorten divides the windows, for tests.
	shorten int
}

// File is a rule file of Prometheus; its groups are the spec of a PrometheusRule.
type File struct {
	Groups []Group `yaml:"groups"`
}

// Group of rules.
type Group struct {
	Name  string `yaml:"name"`
	Rules []Rule `yaml:"rules"`
}

// Rule records or alerts.
type Rule struct {
	Record      string            `yaml:"record,omitempty"`
	Alert       string            `yaml:"alert,omitempty"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// errNoObjective: the run was judged without any of the figures of slo.yaml.
var errNoObjective = errors.New("the accepted run has no limit of busbw, MFU, TTFT or TPOT: nothing to alert on")

// Rules returns burn-rate rules for each figure of slo.yaml that the accepted run was judged with. A
// gate that the run did not have has no rule.
func Rules(o Options) (File, error) {
	c, err := loadCatalogue()
	if err != nil {
		return File{}, err
	}
	if o.Selector != "" {
		if err := checkSelector(o.Selector); err != nil {
			return File{}, fmt.Errorf("invalid selector %q: must be label matchers, such as namespace=\"chat\": %w", o.Selector, err)
		}
	}
	group := Group{Name: join("firstlight-slo-"+o.Site, o.Selector)}
	for _, f := range c.Figures {
		limit, ok := limitOf(o.Figures[f.Gate], f.Figure)
		if !ok {
			continue
		}
		group.Rules = append(group.Rules, o.missed(f, limit))
		group.Rules = append(group.Rules, o.burning(c, f.Name, describe(f, limit), func(window string) string {
			return fmt.Sprintf("avg_over_time(%s{%s}[%s])", missed, matchers(o.labels(f.Name)), window)
		})...)
		group.Rules = append(group.Rules, o.unobserved(f.Name, o.series("firstlight_figure", f)))
	}
	for _, l := range c.Latencies {
		limit, ok := limitOf(o.Figures[l.Gate], l.Figure)
		if !ok {
			continue
		}
		bound, err := l.bound(limit)
		if err != nil {
			return File{}, err
		}
		text := fmt.Sprintf("%s; requests beyond the bucket of %g s count, the largest within the limit", describe(l.figure, limit), bound)
		group.Rules = append(group.Rules, o.burning(c, l.Name, text, func(window string) string { return l.slow(o.Selector, bound, window) })...)
		var buckets []string
		for _, h := range l.Histograms {
			buckets = append(buckets, fmt.Sprintf("%s_bucket{%s}", h, join(le(bound), o.Selector)))
		}
		group.Rules = append(group.Rules, o.unobserved(l.Name, strings.Join(buckets, " or ")), o.stuck(l))
	}
	if len(group.Rules) == 0 {
		return File{}, errNoObjective
	}
	group.Rules = append(group.Rules, o.ofRun()...)
	for _, r := range group.Rules {
		if _, err := parser.ParseExpr(r.Expr); err != nil {
			return File{}, fmt.Errorf("build the rule %s%s: %w: %s", r.Record, r.Alert, err, r.Expr)
		}
	}
	return File{Groups: []Group{group}}, nil
}

// limitOf is the figure with its limit.
func limitOf(figures []check.Figure, name string) (check.Figure, bool) {
	i := slices.IndexFunc(figures, func(f check.Figure) bool { return f.Name == name && (f.Relation == ">=" || f.Relation == "<=") })
	if i < 0 {
		return check.Figure{}, false
	}
	return figures[i], true
}

func describe(f figure, limit check.Figure) string {
	return fmt.Sprintf("%s %s: %s %s %g %s", f.Gate, f.Figure, limit.Name, limit.Relation, limit.Limit, limit.Unit)
}

// The recorded series: 1 while the newest run missed a limit, and error ratios by window.
const (
	missed = "firstlight:slo_missed"
	ratio  = "firstlight:slo_errors:ratio_"
)

// labels of the rules of an objective. Rules with different selectors are different series.
func (o Options) labels(name string) map[string]string {
	labels := map[string]string{"site": o.Site, "cluster": o.Cluster}
	if name != "" {
		labels["slo"] = name
	}
	if o.Selector != "" {
		labels["servers"] = o.Selector
	}
	return labels
}

func matchers(labels map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, fmt.Sprintf("%s=%q", name, labels[name]))
	}
	return strings.Join(out, ",")
}

// series selects a metric of a figure.
func (o Options) series(metric string, f figure) string {
	return fmt.Sprintf("%s{site=%q,cluster=%q,gate=%q,figure=%q}", metric, o.Site, o.Cluster, f.Gate, f.Figure)
}

// missed records whether the newest run missed the accepted run's limit of a figure. Of several
// exporters the worst value counts: the file of one may be outdated.
func (o Options) missed(f figure, limit check.Figure) Rule {
	worst, wrong := "min", "<"
	if limit.Relation == "<=" {
		worst, wrong = "max", ">"
	}
	return Rule{
		Record: missed, Labels: o.labels(f.Name),
		Expr: fmt.Sprintf("%s(%s) %s bool %s", worst, o.series("firstlight_figure", f), wrong, strconv.FormatFloat(limit.Limit, 'g', -1, 64)),
	}
}

// burning records the error ratios of an objective and alerts where they burn its budget.
func (o Options) burning(c catalogue, name, text string, ratioOver func(window string) string) []Rule {
	var records, alerts []Rule
	seen := map[string]bool{}
	record := func(window string) string {
		if !seen[window] {
			seen[window] = true
			records = append(records, Rule{Record: ratio + window, Expr: ratioOver(window), Labels: o.labels(name)})
		}
		return fmt.Sprintf("%s%s{%s}", ratio, window, matchers(o.labels(name)))
	}
	for _, b := range c.Burn {
		limit := strconv.FormatFloat(b.Factor*(1-c.Objective), 'g', 6, 64)
		long, short := o.window(b.Long), o.window(b.Short)
		labels := o.alert(b.Severity, name)
		labels["window"] = long
		alerts = append(alerts, Rule{
			Alert: "FirstlightBudgetBurns", Labels: labels,
			Expr: fmt.Sprintf("%s > %s and %s > %s", record(long), limit, record(short), limit),
			Annotations: map[string]string{
				"summary":     fmt.Sprintf("%s of %s misses its limit: over %s the error budget burns %g times as fast as it lasts", name, o.Site, long, b.Factor),
				"description": text,
			},
		})
	}
	return append(records, alerts...)
}

func (o Options) window(d model.Duration) string {
	return (d / model.Duration(cmp.Or(o.shorten, 1))).String()
}

// bound is the largest bound of a bucket within a limit in ms.
func (l latency) bound(limit check.Figure) (seconds float64, err error) {
	if limit.Unit != "ms" {
		return 0, fmt.Errorf("figure %s is in %s, not in ms", limit.Name, limit.Unit)
	}
	for _, b := range l.Bounds {
		if b <= limit.Limit/1000 {
			seconds = b
		}
	}
	if seconds == 0 {
		return 0, fmt.Errorf("the limit of %s is %g ms, below the smallest bucket of %s: raise the limit, or alert on the metrics of firstlight alone", limit.Name, limit.Limit, l.Histograms[0])
	}
	return seconds, nil
}

// slow is the fraction of requests beyond a bound, of all servers. Of a server with several of the histograms the first
// counts: another one counts tokens. All histograms of a server have the same labels but le, and job and instance are
// not enough to tell servers apart: behind one address there can be several (federation, a gateway), or the labels are
// missing (remote write).
func (l latency) slow(selector string, bound float64, window string) string {
	var within, all []string
	first := "" // excludes servers that have an earlier histogram
	for _, h := range l.Histograms {
		count := fmt.Sprintf("rate(%s_count{%s}[%s])", h, selector, window)
		within = append(within, fmt.Sprintf("(sum(rate(%s_bucket{%s}[%s])%s) or vector(0))", h, join(le(bound), selector), window, first))
		all = append(all, fmt.Sprintf("(sum(%s%s) or vector(0))", count, first))
		first += " unless ignoring (le) " + count
	}
	return fmt.Sprintf("1 - (%s) / (%s)", strings.Join(within, " + "), strings.Join(all, " + "))
}

// le matches a bound as clients print it and as Prometheus 3 does: 1 and 1.0.
func le(bound float64) string {
	text := strings.ReplaceAll(strconv.FormatFloat(bound, 'f', -1, 64), ".", `\\.`)
	if bound == math.Trunc(bound) {
		text += `(\\.0)?`
	}
	return fmt.Sprintf(`le=~"%s"`, text)
}

func join(matchers ...string) string {
	return strings.Join(slices.DeleteFunc(matchers, func(m string) bool { return m == "" }), ",")
}

// checkSelector refuses what is not label matchers, and labels that the rules use themselves.
func checkSelector(selector string) error {
	matchers, err := parser.ParseMetricSelector("{" + selector + "}")
	if err != nil {
		return err
	}
	for _, m := range matchers {
		if m.Name == "__name__" || m.Name == "le" {
			return fmt.Errorf("the rules match %s themselves", m.Name)
		}
	}
	if strings.Contains(selector, "{{") {
		return errors.New("{{ begins a template")
	}
	return nil
}

// alert has the labels of an alert.
func (o Options) alert(severity, slo string) map[string]string {
	labels := o.labels(slo)
	labels["severity"] = severity
	return labels
}

// unobserved alerts if an objective has no series: no other rule fires then.
func (o Options) unobserved(name, series string) Rule {
	return Rule{
		Alert: "FirstlightObjectiveUnobserved", For: "15m", Labels: o.alert("warning", name), Expr: fmt.Sprintf("absent(%s)", series),
		Annotations: map[string]string{
			"summary":     fmt.Sprintf("%s of %s is not observed", name, o.Site),
			"description": "No series " + series,
		},
	}
}

// stuck alerts if servers have requests and none of them gets on: its latency is not counted then. A long generation on a
// quiet server counts none either: running requests of an engine that generates tokens do not alert, waiting ones do.
// Both gauges and the counter of an engine have the same labels, by which unless matches, and "or" drops the waiting ones
// where the running ones are 0, unless these are filtered first. Without the counter, running requests alert.
func (o Options) stuck(l latency) Rule {
	window := o.window(model.Duration(15 * time.Minute))
	var counts []string
	for _, h := range l.Histograms {
		counts = append(counts, fmt.Sprintf("(sum(increase(%s_count{%s}[%s])) or vector(0))", h, o.Selector, window))
	}
	above0 := func(function, metric string) string {
		return fmt.Sprintf("%s(%s{%s}[%s]) > 0", function, metric, o.Selector, window)
	}
	requests := fmt.Sprintf("(%s unless %s) or %s", above0("min_over_time", "vllm:num_requests_running"),
		above0("increase", "vllm:generation_tokens_total"), above0("min_over_time", "vllm:num_requests_waiting"))
	return Rule{
		Alert: "FirstlightRequestsStuck", Labels: o.alert("critical", l.Name),
		Expr: fmt.Sprintf("max(%s) and on () (%s == 0)", requests, strings.Join(counts, " + ")),
		Annotations: map[string]string{
			"summary": fmt.Sprintf("requests of %s get no further: %s counted none for %s", o.Site, l.Name, window),
		},
	}
}

// ofRun alerts if the newest run did not pass, and if its metrics are missing, do not verify, or are
// too old to count.
func (o Options) ofRun() []Rule {
	of := fmt.Sprintf("{site=%q,cluster=%q}", o.Site, o.Cluster)
	alert := func(name, expr, wait, summary, description string) Rule {
		return Rule{
			Alert: name, Expr: expr, For: wait, Labels: o.alert("warning", ""),
			Annotations: map[string]string{"summary": summary, "description": description},
		}
	}
	return []Rule{
		alert("FirstlightRunNotPassed", fmt.Sprintf("min(firstlight_run_passed%s) == 0", of), "",
			"the newest run of "+o.Site+" did not pass", "firstlight_gate_passed shows the gate; firstlight evidence show names the cause."),
		alert("FirstlightFiguresUnobserved", fmt.Sprintf("absent(firstlight_run_verified%s == 1)", of), "15m",
			"no verified figures of "+o.Site, "firstlight drift metrics does not run, or the newest run does not verify or is of another cluster: busbw and MFU are not observed."),
		alert("FirstlightFiguresOld", fmt.Sprintf("time() - max(firstlight_run_timestamp_seconds%s) > %g", of, o.MaxAge.Seconds()), "",
			"the newest figures of "+o.Site+" are older than "+model.Duration(o.MaxAge).String(), "firstlight drift has not finished since: busbw and MFU are not observed."),
	}
}
