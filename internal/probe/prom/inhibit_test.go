package prom

import (
	"slices"
	"strings"
	"testing"
)

func TestInhibitionsByAnAlert(t *testing.T) {
	t.Parallel()
	const config = `
inhibit_rules:
- {source_matchers: ['severity="critical"'], target_matchers: ['severity="warning"'], equal: [namespace]}
- {source_matchers: ['severity="critical"'], target_matchers: ['severity="info"'], equal: [namespace, alertname]}
- {source_match: {alertname: InfoInhibitor}, equal: [namespace]}
- {source_match_re: {severity: crit.*}, source_matchers: ['team="gpu"']}
`
	rules, err := ParseInhibitions(status(t, config))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		alert map[string]string
		want  []string
	}{
		"one of two, the other only of the same name": {map[string]string{"severity": "critical"}, []string{`{severity="critical"}`}},
		"all matchers of a rule":                      {map[string]string{"severity": "critical", "team": "gpu"}, []string{`{severity="critical"}`, `{severity=~"crit.*",team="gpu"}`}},
		"none":                                        {map[string]string{"severity": "none"}, nil},
	} {
		if got := rules.By(tt.alert, "alertname"); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if _, err := ParseInhibitions(status(t, "inhibit_rules: [{source_matchers: ['a']}]")); err == nil || !strings.Contains(err.Error(), "matcher") {
		t.Error(err)
	}
}
