package prom

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

const routed = `
route:
  receiver: default
  group_interval: 1m
  routes:
  - matchers: ['alertname="Watchdog"']
    receiver: watchdog
  - match_re: {service: "db|cache"}
    receiver: data
    continue: true
  - matchers: [severity=~"critical|page", 'team!="none"']
    routes:
    - match: {team: gpu}
      group_interval: 2m
      receiver: gpu-pager
    - matchers: ['{region="eu",env=prod}']
      receiver: eu
receivers:
- name: default
`

func status(t *testing.T, config string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"config": map[string]string{"original": config}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestReceiversOfAnAlert(t *testing.T) {
	t.Parallel()
	route, err := ParseRoute(status(t, routed))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		alert map[string]string
		want  []string
	}{
		"no route matches":      {map[string]string{"alertname": "x"}, []string{"default"}},
		"the first":             {map[string]string{"alertname": "Watchdog", "severity": "critical"}, []string{"watchdog"}},
		"continued":             {map[string]string{"service": "db", "severity": "critical", "team": "gpu"}, []string{"data", "gpu-pager"}},
		"anchored":              {map[string]string{"service": "dbx"}, []string{"default"}},
		"inherits its receiver": {map[string]string{"severity": "page", "team": "web"}, []string{"default"}},
		"a missing label":       {map[string]string{"severity": "critical"}, []string{"default"}},
		"not equal":             {map[string]string{"severity": "critical", "team": "none", "region": "eu", "env": "prod"}, []string{"default"}},
		"several in one":        {map[string]string{"severity": "critical", "region": "eu", "env": "prod"}, []string{"eu"}},
	} {
		if got := route.Receivers(tt.alert); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestGroupIntervalOfAnAlert(t *testing.T) {
	t.Parallel()
	route, err := ParseRoute(status(t, routed))
	if err != nil {
		t.Fatal(err)
	}
	for want, alert := range map[time.Duration]map[string]string{
		time.Minute:     {"severity": "critical", "region": "eu", "env": "prod"},
		2 * time.Minute: {"service": "db", "severity": "critical", "team": "gpu"}, // of two routes
	} {
		if got := route.GroupInterval(alert); got != want {
			t.Errorf("%v: %s, want %s", alert, got, want)
		}
	}
	if route, err := ParseRoute(status(t, "route: {receiver: a}")); err != nil || route.GroupInterval(nil) != 5*time.Minute {
		t.Error(route, err)
	}
}

func TestParseRouteRefuses(t *testing.T) {
	t.Parallel()
	for want, raw := range map[string][]byte{
		"read status": []byte("[]"),
		"group_int":   status(t, "route: {receiver: a, group_interval: often}"),
		"no route":    status(t, "receivers: [{name: a}]"),
		"matcher":     status(t, "route: {receiver: a, matchers: ['a']}"),
		"error pars":  status(t, "route: {receiver: a, match_re: {x: '('}}"),
		"deeply":      status(t, "route: "+strings.Repeat("{routes: [", maxRouteDepth+2)+"{}"+strings.Repeat("]}", maxRouteDepth+2)),
	} {
		if _, err := ParseRoute(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", raw, err, want)
		}
	}
}

func FuzzParseRoute(f *testing.F) {
	f.Add(routed)
	f.Fuzz(func(t *testing.T, config string) {
		if route, err := ParseRoute(status(t, config)); err == nil && len(route.Receivers(map[string]string{"severity": "critical"})) == 0 && len(route.matchers) == 0 {
			t.Error("a route without matchers reaches no receiver")
		}
	})
}
