package settings

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestFind(t *testing.T) {
	t.Parallel()
	o := option{flags: []string{"collect-interval", "c"}, env: []string{"DCGM_EXPORTER_INTERVAL"}, unit: time.Millisecond}
	for name, tt := range map[string]struct {
		args []string
		env  []corev1.EnvVar
		want time.Duration
		by   string
		ok   bool
	}{
		"nothing":                    {nil, nil, 0, "", false},
		"a flag with its value":      {[]string{"--collect-interval=1000"}, nil, time.Second, "--collect-interval", true},
		"a flag before its value":    {[]string{"--collect-interval", "5s"}, nil, 5 * time.Second, "--collect-interval", true},
		"one dash":                   {[]string{"-collect-interval=2s"}, nil, 2 * time.Second, "--collect-interval", true},
		"a short flag":               {[]string{"-c", "250"}, nil, 250 * time.Millisecond, "-c", true},
		"the later one counts":       {[]string{"-c", "250", "--collect-interval=500"}, nil, 500 * time.Millisecond, "--collect-interval", true},
		"a variable":                 {nil, []corev1.EnvVar{{Name: "DCGM_EXPORTER_INTERVAL", Value: "30000"}}, 30 * time.Second, "DCGM_EXPORTER_INTERVAL", true},
		"a flag before a variable":   {[]string{"-c=1000"}, []corev1.EnvVar{{Name: "DCGM_EXPORTER_INTERVAL", Value: "30000"}}, time.Second, "-c", true},
		"a flag that ends the line":  {[]string{"-c"}, nil, 0, "", false},
		"another flag's value":       {[]string{"--address=c", "c"}, nil, 0, "", false},
		"nonsense":                   {[]string{"-c", "often"}, nil, 0, "", false},
		"a negative one":             {[]string{"-c=-5"}, nil, 0, "", false},
		"a variable from elsewhere":  {nil, []corev1.EnvVar{{Name: "DCGM_EXPORTER_INTERVAL"}}, 0, "", false},
		"a flag of the same letters": {[]string{"--collect=1"}, nil, 0, "", false},
	} {
		got, by, ok := find(o, corev1.Container{Command: []string{"dcgm-exporter"}, Args: tt.args, Env: tt.env})
		if got != tt.want || by != tt.by || ok != tt.ok {
			t.Errorf("%s: got %s by %q, %t", name, got, by, ok)
		}
	}
	bare := option{flags: []string{"metrics-relist-interval"}}
	if _, _, ok := find(bare, corev1.Container{Args: []string{"--metrics-relist-interval=10"}}); ok {
		t.Error("a number without a unit was read")
	}
}

func TestARangeMayHaveSpaces(t *testing.T) {
	t.Parallel()
	if w := (Rule{Query: "avg(avg_over_time(x[ 5m ]))"}).Window(); w != 5*time.Minute {
		t.Errorf("got %s", w)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	rules, err := ParseRules(`
externalRules:
- seriesQuery: DCGM_FI_DEV_POWER_USAGE
  resources: {namespaced: false}
  name: {as: dcgm_gpu_power_usage}
  metricsQuery: avg(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[1m30s]))
rules:
- seriesQuery: DCGM_FI_DEV_POWER_USAGE{namespace!=""}
  name: {as: gpu_power_usage}
  metricsQuery: max(max_over_time(avg_over_time(x[5s])[2m:10s])) by (<<.GroupBy>>)
- seriesQuery: up
  metricsQuery: sum(<<.Series>>)
`)
	if err != nil || len(rules) != 3 {
		t.Fatal(rules, err)
	}
	external, ok := RuleOf(rules, true, "dcgm_gpu_power_usage")
	if !ok || external.Query != "avg(avg_over_time(<<.Series>>{<<.LabelMatchers>>}[1m30s]))" {
		t.Errorf("%+v %t", external, ok)
	}
	if _, ok := RuleOf(rules, false, "dcgm_gpu_power_usage"); ok {
		t.Error("an external rule was taken for a custom one")
	}
	var windows []time.Duration
	for _, r := range rules {
		windows = append(windows, r.Window())
	}
	if diff := cmp.Diff([]time.Duration{90 * time.Second, 2 * time.Minute, 0}, windows); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseRules("rules: x"); err == nil {
		t.Error("a text was read as rules")
	}
}
