package prom

import (
	"slices"
	"strings"
	"testing"
)

// chartInhibitions are alertmanager.config.inhibit_rules in the values of the chart kube-prometheus-stack.
const chartInhibitions = `
inhibit_rules:
  - source_matchers:
      - 'severity = critical'
    target_matchers:
      - 'severity =~ warning|info'
    equal:
      - 'namespace'
      - 'alertname'
  - source_matchers:
      - 'severity = warning'
    target_matchers:
      - 'severity = info'
    equal:
      - 'namespace'
      - 'alertname'
  - source_matchers:
      - 'alertname = InfoInhibitor'
    target_matchers:
      - 'severity = info'
    equal:
      - 'namespace'
  - target_matchers:
      - 'alertname = InfoInhibitor'
`

func TestInhibitionsByAnAlert(t *testing.T) {
	t.Parallel()
	const config = `
inhibit_rules:
- {source_matchers: ['severity="critical"'], target_matchers: ['severity="warning"'], equal: [namespace]}
- {source_matchers: ['severity="critical"'], target_matchers: ['severity="info"'], equal: [namespace, alertname]}
- {source_match: {alertname: InfoInhibitor}, equal: [namespace]}
- {source_match_re: {severity: crit.*}, source_matchers: ['team="gpu"']}
- {target_matchers: ['team="db"'], equal: [cluster]}
`
	rules, err := ParseInhibitions(status(t, config))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		alert map[string]string
		want  []string
	}{
		"one of two, the other only of the same name": {map[string]string{"severity": "critical"}, []string{`{severity="critical"}`, "{}"}},
		"all matchers of a rule":                      {map[string]string{"severity": "critical", "team": "gpu"}, []string{`{severity="critical"}`, `{severity=~"crit.*",team="gpu"}`, "{}"}},
		"only without sources":                        {map[string]string{"severity": "none"}, []string{"{}"}},
	} {
		if got := rules.By(tt.alert, "alertname"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	// The rule without sources is unconditional: its targets are muted as long as any alert is active.
	chart, err := ParseInhibitions(status(t, chartInhibitions))
	if got := chart.By(map[string]string{"alertname": "FirstlightSynthetic", "severity": "critical"}, "alertname"); err != nil || len(chart) != 4 || len(got) > 0 {
		t.Errorf("kube-prometheus-stack: %d rules, by %q, %v", len(chart), got, err)
	}
	if _, err := ParseInhibitions(status(t, "inhibit_rules: [{source_matchers: ['a']}]")); err == nil || !strings.Contains(err.Error(), "matcher") {
		t.Error(err)
	}
}
