package slo

import (
	"cmp"
	"errors"
	"fmt"
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
	// Site is the label site of the metrics.
	Site string
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
		if _, err := parser.ParseMetricSelector("{" + o.Selector + "}"); err != nil {
			return File{}, fmt.Errorf("invalid selector %q: must be label matchers, such as namespace=\"chat\": %w", o.Selector, err)
		}
	}
	group := Group{Name: "firstlight-slo-" + o.Site}
	for _, f := range c.Figures {
		limit, ok := limitOf(o.Figures[f.Gate], f.Figure)
		if !ok {
			continue
		}
		group.Rules = append(group.Rules, o.missed(f, limit))
		group.Rules = append(group.Rules, o.burning(c, f.Name, describe(f, limit), func(window string) string {
			return fmt.Sprintf("avg_over_time(%s%s[%s])", missed, o.labels(f.Name), window)
		})...)
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
		group.Rules = append(group.Rules, o.uncounted(l, bound))
	}
	if len(group.Rules) == 0 {
		return File{}, errNoObjective
	}
	group.Rules = append(group.Rules, o.old()...)
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

// labels selects the series of an objective.
func (o Options) labels(name string) string { return fmt.Sprintf("{site=%q,slo=%q}", o.Site, name) }

// missed records whether the newest run missed the limit of a figure. The metrics may have more
// labels, such as the instance that exports them.
func (o Options) missed(f figure, limit check.Figure) Rule {
	series := func(name string) string {
		return fmt.Sprintf("max by (site) (%s{site=%q,gate=%q,figure=%q})", name, o.Site, f.Gate, f.Figure)
	}
	wrong := map[string]string{">=": "<", "<=": ">"}[limit.Relation]
	return Rule{
		Record: missed, Labels: map[string]string{"slo": f.Name},
		Expr: fmt.Sprintf("%s %s bool %s", series("firstlight_figure"), wrong, series("firstlight_figure_limit")),
	}
}

// burning records the error ratios of an objective and alerts where they burn its budget.
func (o Options) burning(c catalogue, name, text string, ratioOver func(window string) string) []Rule {
	var records, alerts []Rule
	seen := map[string]bool{}
	record := func(window string) string {
		if !seen[window] {
			seen[window] = true
			records = append(records, Rule{Record: ratio + window, Expr: ratioOver(window), Labels: map[string]string{"site": o.Site, "slo": name}})
		}
		return ratio + window + o.labels(name)
	}
	for _, b := range c.Burn {
		limit := strconv.FormatFloat(b.Factor*(1-c.Objective), 'g', 6, 64)
		long, short := o.window(b.Long), o.window(b.Short)
		alerts = append(alerts, Rule{
			Alert: "FirstlightBudgetBurns", Labels: map[string]string{"severity": b.Severity, "site": o.Site, "slo": name, "window": long},
			Expr: fmt.Sprintf("%s > %s and %s > %s", record(long), limit, record(short), limit),
			Annotations: map[string]string{
				"summary":     fmt.Sprintf("%s of %s misses its limit: over %s the error budget burns %g times as fast as it lasts", name, o.Site, long, b.Factor),
				"description": text,
				"runbook":     "docs/drift.md",
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

// slow is the fraction of requests beyond a bound.
func (l latency) slow(selector string, bound float64, window string) string {
	var within, all []string
	for _, h := range l.Histograms {
		within = append(within, fmt.Sprintf("sum(rate(%s_bucket{%s}[%s]))", h, join(le(bound), selector), window))
		all = append(all, fmt.Sprintf("sum(rate(%s_count{%s}[%s]))", h, selector, window))
	}
	return fmt.Sprintf("1 - (%s) / (%s)", strings.Join(within, " or "), strings.Join(all, " or "))
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

// uncounted alerts if no server counts the bucket: nothing else would fire.
func (o Options) uncounted(l latency, bound float64) Rule {
	var series []string
	for _, h := range l.Histograms {
		series = append(series, fmt.Sprintf("%s_bucket{%s}", h, join(le(bound), o.Selector)))
	}
	return Rule{
		Alert: "FirstlightObjectiveUnobserved", For: "15m", Labels: map[string]string{"severity": "warning", "site": o.Site, "slo": l.Name},
		Expr: fmt.Sprintf("absent(%s)", strings.Join(series, " or ")),
		Annotations: map[string]string{
			"summary":     fmt.Sprintf("%s of %s is not observed", l.Name, o.Site),
			"description": fmt.Sprintf("No series %s: no server runs, Prometheus does not scrape it, or its buckets differ.", strings.Join(series, " or ")),
		},
	}
}

// old alerts if the metrics of runs are missing, do not verify, or are too old to count.
func (o Options) old() []Rule {
	of := fmt.Sprintf("{site=%q}", o.Site)
	alert := func(name, expr, wait, summary, description string) Rule {
		return Rule{
			Alert: name, Expr: expr, For: wait, Labels: map[string]string{"severity": "warning", "site": o.Site},
			Annotations: map[string]string{"summary": summary, "description": description},
		}
	}
	return []Rule{
		alert("FirstlightGateNotPassed", fmt.Sprintf("firstlight_gate_passed%s == 0", of), "",
			"{{ $labels.gate }} of "+o.Site+" did not pass in the newest run", "firstlight drift, or accept, names the cause."),
		alert("FirstlightFiguresUnobserved", fmt.Sprintf("absent(firstlight_run_verified%s == 1)", of), "15m",
			"no verified figures of "+o.Site, "firstlight drift metrics does not run, or the newest run does not verify: busbw and MFU are not observed."),
		alert("FirstlightFiguresOld", fmt.Sprintf("time() - firstlight_run_timestamp_seconds%s > %g", of, o.MaxAge.Seconds()), "",
			"the newest figures of "+o.Site+" are older than "+model.Duration(o.MaxAge).String(), "firstlight drift has not finished since: busbw and MFU are not observed."),
	}
}
