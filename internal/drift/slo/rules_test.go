package slo

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firstlight/firstlight/internal/check"
)

// accepted has the figures of a run of all gates.
func accepted() map[string][]check.Figure {
	return map[string][]check.Figure{
		"collective": {{Name: "busbw", Value: 366, Unit: "GB/s", Limit: 355, Relation: ">="}, {Name: "busbw ceiling", Value: 386, Unit: "GB/s"}},
		"training":   {{Name: "MFU", Value: 0.4, Unit: "fraction", Limit: 0.36, Relation: ">="}},
		"inference": {
			{Name: "TTFT p99", Value: 66, Unit: "ms", Limit: 500, Relation: "<="},
			{Name: "TPOT p99", Value: 13, Unit: "ms", Limit: 60, Relation: "<="},
		},
	}
}

func rulesOf(t *testing.T, o Options) []Rule {
	t.Helper()
	f, err := Rules(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Groups) != 1 {
		t.Fatalf("%d groups, want 1", len(f.Groups))
	}
	return f.Groups[0].Rules
}

func TestEveryExpressionIsPromQL(t *testing.T) {
	t.Parallel()
	rules := rulesOf(t, Options{Site: `a "site"`, Figures: accepted(), Selector: `namespace="chat"`, MaxAge: time.Hour})
	for _, r := range rules {
		if _, err := parser.ParseExpr(r.Expr); err != nil {
			t.Errorf("%s%s: %v: %s", r.Record, r.Alert, err, r.Expr)
		}
		if strings.Contains(r.Expr, "vllm:") && !strings.Contains(r.Expr, `namespace="chat"`) {
			t.Errorf("%s%s counts the servers of others: %s", r.Record, r.Alert, r.Expr)
		}
	}
	if len(rules) < 40 {
		t.Errorf("%d rules", len(rules))
	}
}

func TestRulesAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	withoutInference := accepted()
	delete(withoutInference, "inference")
	for _, r := range rulesOf(t, Options{Site: "a", Figures: withoutInference, MaxAge: time.Hour}) {
		if slo := r.Labels["slo"]; slo == "ttft" || slo == "tpot" {
			t.Errorf("a rule of a gate that the run did not have: %+v", r)
		}
	}
	if _, err := Rules(Options{Site: "a", Figures: map[string][]check.Figure{"node": {{Name: "GPUs"}}}}); !errors.Is(err, errNoObjective) {
		t.Errorf("without a figure: %v", err)
	}
	for _, selector := range []string{"namespace=", `__name__="up"`, `le="1"`, `a="{{ .Value }}"`} {
		if _, err := Rules(Options{Site: "a", Figures: accepted(), Selector: selector}); err == nil || !strings.Contains(err.Error(), "invalid selector") {
			t.Errorf("selector %s: %v", selector, err)
		}
	}
	fast := accepted()
	fast["inference"][0].Limit = 0.5
	if _, err := Rules(Options{Site: "a", Figures: fast}); err == nil || !strings.Contains(err.Error(), "below the smallest bucket") {
		t.Errorf("a limit below all buckets: %v", err)
	}
}

// The bucket must lie within the limit: a larger one would count requests beyond the limit as good.
func TestBoundOfALimit(t *testing.T) {
	t.Parallel()
	c, err := loadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for ms, want := range map[float64]string{500: `le=~"0\\.5"`, 749: `le=~"0\\.5"`, 750: `le=~"0\\.75"`, 1000: `le=~"1(\\.0)?"`, 9e9: `le=~"80(\\.0)?"`} {
		bound, err := c.Latencies[0].bound(check.Figure{Limit: ms, Unit: "ms"})
		if got := le(bound); err != nil || got != want {
			t.Errorf("%g ms: %s, want %s: %v", ms, got, want, err)
		}
	}
}
