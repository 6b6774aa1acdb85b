package slo

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
)

// found are the rules of a name (of a record or an alert) and an objective.
func found(rules []Rule, name, slo string) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return r.Record+r.Alert != name || r.Labels["slo"] != slo })
}

// one is the only rule of a name and an objective.
func one(t *testing.T, rules []Rule, name, slo string) Rule {
	t.Helper()
	f := found(rules, name, slo)
	if len(f) != 1 {
		t.Fatalf("%d rules %s of %q, want 1", len(f), name, slo)
	}
	return f[0]
}

func limited(figures ...check.Figure) Options {
	return Options{Site: "a", Cluster: "1", MaxAge: time.Hour, Figures: map[string][]check.Figure{"collective": figures}}
}

// A figure misses its limit on the side that the verdict's relation forbids; of several exporters
// the worst counts.
func TestALimitIsMissedOnTheForbiddenSide(t *testing.T) {
	t.Parallel()
	other := check.Figure{Name: "algbw", Value: 200, Limit: 190, Relation: ">="}
	for name, tt := range map[string]struct {
		figures []check.Figure
		want    string
	}{
		"at least":             {[]check.Figure{{Name: "busbw", Value: 366, Limit: 355.5, Relation: ">="}}, `min(%s) < bool 355.5`},
		"at most":              {[]check.Figure{{Name: "busbw", Value: 366, Limit: 400, Relation: "<="}}, `max(%s) > bool 400`},
		"with another figure":  {[]check.Figure{other, {Name: "busbw", Limit: 355, Relation: ">="}}, `min(%s) < bool 355`},
		"also without a limit": {[]check.Figure{{Name: "busbw", Value: 366}, {Name: "busbw", Limit: 355, Relation: ">="}}, `min(%s) < bool 355`},
	} {
		want := fmt.Sprintf(tt.want, `firstlight_figure{site="a",cluster="1",gate="collective",figure="busbw"}`)
		if got := one(t, rulesOf(t, limited(tt.figures...)), missed, "busbw").Expr; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if _, err := Rules(limited(check.Figure{Name: "busbw", Value: 366})); err == nil {
		t.Error("a figure without a limit is not an objective")
	}
}

// An alert fires where the budget of 1 % burns faster than its factor in both windows: with the
// longest windows, at once when more than the budget is missed.
func TestABudgetBurnsInBothWindows(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, limited(check.Figure{Name: "busbw", Limit: 355, Relation: ">="}))
	alerts := found(rules, "FirstlightBudgetBurns", "busbw")
	wants := []struct{ severity, long, short, limit string }{
		{"critical", "1h", "5m", "0.144"}, {"critical", "6h", "30m", "0.06"}, {"warning", "1d", "2h", "0.03"}, {"warning", "3d", "6h", "0.01"},
	}
	if len(alerts) != len(wants) {
		t.Fatalf("%d alerts, want %d", len(alerts), len(wants))
	}
	for i, want := range wants {
		a := alerts[i]
		const of = `{cluster="1",site="a",slo="busbw"}`
		expr := ratio + want.long + of + " > " + want.limit + " and " + ratio + want.short + of + " > " + want.limit
		if a.Expr != expr || a.Labels["severity"] != want.severity || a.Labels["window"] != want.long || a.For != "" {
			t.Errorf("%+v, want %s of %s", a, expr, want.severity)
		}
	}
}

// Each window of an objective is recorded once, from the misses of the same objective: two records
// of one series make Prometheus refuse the second.
func TestEachWindowIsRecordedOnce(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, Options{Site: "a", Cluster: "1", Figures: accepted(), MaxAge: time.Hour})
	for _, window := range []string{"5m", "30m", "1h", "2h", "6h", "1d", "3d"} {
		for _, slo := range []string{"busbw", "mfu", "ttft", "tpot"} {
			r := one(t, rules, ratio+window, slo)
			if !strings.Contains(r.Expr, "["+window+"]") {
				t.Errorf("%s of %s has another window: %s", window, slo, r.Expr)
			}
			if of := fmt.Sprintf(`avg_over_time(%s{cluster="1",site="a",slo=%q}[%s])`, missed, slo, window); (slo == "busbw" || slo == "mfu") && r.Expr != of {
				t.Errorf("%s, want %s", r.Expr, of)
			}
		}
	}
	o := Options{Site: "a", Figures: accepted(), MaxAge: time.Hour, shorten: 60}
	one(t, rulesOf(t, o), ratio+"1m", "busbw")
}

// vLLM 0.11 has the histogram of requests and the older one of tokens, which it names deprecated (both are in the scrape
// whose help texts ai-dynamo/aiperf lists): a request counts once and not with each of its tokens, of which few are slow. Both
// have the same labels (vllm-project/vllm, vllm/v1/metrics/loggers.py: make_per_engine). By job and instance, an older server
// behind the same address was excluded with its slow tokens.
func TestAServerWithBothHistogramsCountsRequests(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, Options{Site: "a", Cluster: "1", Figures: accepted(), Selector: `namespace="chat"`, MaxAge: time.Hour})
	const ofRequests, ofTokens = "vllm:request_time_per_output_token_seconds", "vllm:time_per_output_token_seconds"
	got := one(t, rules, ratio+"5m", "tpot").Expr
	for _, want := range []string{
		`(sum(rate(` + ofRequests + `_bucket{le=~"0\\.05",namespace="chat"}[5m])) or vector(0))`,
		`(sum(rate(` + ofTokens + `_bucket{le=~"0\\.05",namespace="chat"}[5m]) unless ignoring (le) rate(` + ofRequests + `_count{namespace="chat"}[5m])) or vector(0))`,
		`(sum(rate(` + ofRequests + `_count{namespace="chat"}[5m])) or vector(0))`,
		`(sum(rate(` + ofTokens + `_count{namespace="chat"}[5m]) unless ignoring (le) rate(` + ofRequests + `_count{namespace="chat"}[5m])) or vector(0))`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nhas not\n%s", got, want)
		}
	}
	if got := one(t, rules, ratio+"5m", "ttft").Expr; strings.Contains(got, "unless") {
		t.Errorf("one histogram: %s", got)
	}
}

// An objective that is not observed is an alert of its own, since no other one fires: without a
// figure of the run, without a histogram, with servers that answer nothing, and without a run.
func TestWhatIsNotObservedAlerts(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, Options{Site: "a", Cluster: "1", Figures: accepted(), MaxAge: time.Hour})
	for _, tt := range []struct{ alert, slo, severity, wait, expr string }{
		{"FirstlightObjectiveUnobserved", "busbw", "warning", "15m", `absent(firstlight_figure{site="a",cluster="1",gate="collective",figure="busbw"})`},
		{"FirstlightObjectiveUnobserved", "mfu", "warning", "15m", `absent(firstlight_figure{site="a",cluster="1",gate="training",figure="MFU"})`},
		{"FirstlightObjectiveUnobserved", "ttft", "warning", "15m", `absent(vllm:time_to_first_token_seconds_bucket{le=~"0\\.5"})`},
		{"FirstlightObjectiveUnobserved", "tpot", "warning", "15m", `absent(vllm:request_time_per_output_token_seconds_bucket{le=~"0\\.05"} or vllm:time_per_output_token_seconds_bucket{le=~"0\\.05"})`},
		{"FirstlightRequestsStuck", "ttft", "critical", "", `max((min_over_time(vllm:num_requests_running{}[15m]) > 0 unless increase(vllm:generation_tokens_total{}[15m]) > 0) or min_over_time(vllm:num_requests_waiting{}[15m]) > 0) and on () ((sum(increase(vllm:time_to_first_token_seconds_count{}[15m])) or vector(0)) == 0)`},
		{"FirstlightRunNotPassed", "", "warning", "", `min(firstlight_run_passed{site="a",cluster="1"}) == 0`},
		{"FirstlightFiguresUnobserved", "", "warning", "15m", `absent(firstlight_run_verified{site="a",cluster="1"} == 1)`},
		{"FirstlightFiguresOld", "", "warning", "", `time() - max(firstlight_run_timestamp_seconds{site="a",cluster="1"}) > 3600`},
	} {
		r := one(t, rules, tt.alert, tt.slo)
		if r.Expr != tt.expr || r.Labels["severity"] != tt.severity || r.For != tt.wait {
			t.Errorf("%s of %q: %+v, want %+v", tt.alert, tt.slo, r, tt)
		}
	}
}

// Every rule is of a site and a cluster; with a selector it names the servers, since rules with
// different selectors are different series.
func TestLabelsOfRules(t *testing.T) {
	t.Parallel()
	for selector, servers := range map[string]bool{"": false, `namespace="chat"`: true} {
		for _, r := range rulesOf(t, Options{Site: "a", Cluster: "1", Figures: accepted(), Selector: selector, MaxAge: time.Hour}) {
			label, has := r.Labels["servers"]
			_, slo := r.Labels["slo"]
			if r.Labels["site"] != "a" || r.Labels["cluster"] != "1" || has != servers || label != selector {
				t.Errorf("selector %q: %+v", selector, r)
			}
			if ofRun := strings.HasPrefix(r.Alert, "FirstlightRunNot") || strings.HasPrefix(r.Alert, "FirstlightFigures"); slo == ofRun {
				t.Errorf("the objective of %+v", r)
			}
		}
	}
}

// Buckets are in seconds: a latency of another unit has no bucket.
func TestALatencyInAnotherUnit(t *testing.T) {
	t.Parallel()
	figures := accepted()
	figures["inference"][0].Unit = "s"
	if _, err := Rules(Options{Site: "a", Figures: figures}); err == nil || !strings.Contains(err.Error(), "is in s, not in ms") {
		t.Errorf("%v", err)
	}
}
