package preflight

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

func TestJudgeServices(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	want := site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second), Receiver: "on-call"}
	for name, tt := range map[string]struct {
		spoil func(f *seriesFacts)
		want  []string
	}{
		"healthy":        {func(*seriesFacts) {}, nil},
		"no targets":     {func(f *seriesFacts) { f.intervals = nil }, nil},
		"no certificate": {func(f *seriesFacts) { f.connectErr = down }, []string{"would-stop Prometheus p: down"}},
		"not ready":      {func(f *seriesFacts) { f.readyErr = down }, []string{"would-stop Prometheus p: down"}},
		"unreadable":     {func(f *seriesFacts) { f.readErr = down }, []string{"unobserved Prometheus p: cannot read DCGM_FI_DEV_GPU_UTIL: down"}},
		"a defect": {func(f *seriesFacts) {
			f.defects = []check.Finding{{Suspect: "gpu-02", Message: "no series", Remedy: "look"}}
		}, []string{"would-stop GPU series gpu-02: no series"}},
		"rare scrapes":                      {func(f *seriesFacts) { f.intervals = []time.Duration{15 * time.Second, time.Minute} }, []string{"would-stop scrape interval p: every 1m0s, the site says 15s"}},
		"often":                             {func(f *seriesFacts) { f.intervals = []time.Duration{time.Second} }, nil},
		"no Alertmanager":                   {func(f *seriesFacts) { f.alertmanagers = nil }, []string{"would-stop alerting p: no active Alertmanager"}},
		"an Alertmanager that is not named": {func(f *seriesFacts) { f.alertmanagers, f.unnamed = []string{"am", "central"}, true }, []string{"would-stop alerting p: more Alertmanagers than the site names: am, central"}},
		// Thanos, Mimir and managed services: the gate follows the alert of its rule.
		"Alertmanagers not listed": {func(f *seriesFacts) { f.alertErr = fmt.Errorf("read: %w", prom.ErrNotServed) }, nil},
		"alerts unknown":           {func(f *seriesFacts) { f.alertErr = down }, []string{"unobserved alerting p: down"}},
	} {
		f := seriesFacts{address: "p", intervals: []time.Duration{15 * time.Second}, alertmanagers: []string{"am"}}
		tt.spoil(&f)
		require(t, name, judgeSeries(f, want), tt.want...)
	}
	posted := want
	posted.Alert.Through = site.ThroughAlertmanager
	require(t, "Alertmanagers not listed, and an alert that is posted", judgeSeries(seriesFacts{address: "p", alertErr: prom.ErrNotServed}, posted), "unobserved alerting p: path is not served")
	for name, tt := range map[string]struct {
		spoil func(f *alertFacts)
		want  []string
	}{
		"healthy":        {func(*alertFacts) {}, nil},
		"down":           {func(f *alertFacts) { f.err = down }, []string{"would-stop Alertmanager am: down"}},
		"no receiver":    {func(f *alertFacts) { f.receivers[0].Name = "other" }, []string{"would-stop alert receiver on-call: is not in"}},
		"no integration": {func(f *alertFacts) { f.receivers[0].Integrations = nil }, []string{"would-stop alert receiver on-call: has no integration"}},
		"not permitted":  {func(f *alertFacts) { f.effect.Consent = false }, []string{"would-stop alert receiver on-call: neither --page"}},
		"not routed":     {func(f *alertFacts) { f.effect.Reached = []string{"other"} }, []string{"would-stop alert receiver on-call: routed to other"}},
	} {
		f := alertFacts{address: "am", receivers: []prom.Receiver{{Name: "on-call", Integrations: []string{"webhook"}}}, effect: telemetry.AlertEffect{Consent: true, Reached: []string{"on-call"}}}
		tt.spoil(&f)
		require(t, name, judgeAlerts(f, "on-call"), tt.want...)
	}
}

// A service without a defect has a line for each property that was observed.
func TestLinesOfServices(t *testing.T) {
	t.Parallel()
	want := site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second)}
	fine := []string{
		"ok Prometheus p: ready", "ok GPU series p: DCGM_FI_DEV_GPU_UTIL of every GPU, with its labels, fresh",
		"ok scrape interval p: dcgm-exporter is scraped every 15s", "ok alerting p: Prometheus sends alerts to am, am2",
	}
	defects := []check.Finding{{Suspect: "gpu-02", Message: "no series"}, {Suspect: "gpu-03", Message: "no series"}}
	for name, tt := range map[string]struct {
		spoil func(f *seriesFacts)
		want  []string
	}{
		"healthy":          {func(*seriesFacts) {}, fine},
		"one exporter":     {func(f *seriesFacts) { f.intervals = f.intervals[1:] }, fine},
		"no target":        {func(f *seriesFacts) { f.intervals = nil }, []string{fine[0], fine[1], fine[3]}},
		"defects":          {func(f *seriesFacts) { f.defects = defects }, []string{fine[0], "would-stop GPU series gpu-02: no series", "would-stop GPU series gpu-03: no series", fine[2], fine[3]}},
		"one defect":       {func(f *seriesFacts) { f.defects = defects[:1] }, []string{fine[0], "would-stop GPU series gpu-02: no series", fine[2], fine[3]}},
		"one Alertmanager": {func(f *seriesFacts) { f.alertmanagers = f.alertmanagers[:1] }, []string{fine[0], fine[1], fine[2], "ok alerting p: Prometheus sends alerts to am"}},
	} {
		f := seriesFacts{address: "p", intervals: []time.Duration{time.Second, 15 * time.Second}, alertmanagers: []string{"am", "am2"}}
		tt.spoil(&f)
		requireAll(t, name, judgeSeries(f, want), tt.want...)
	}
	receivers := []prom.Receiver{{Name: "other"}, {Name: "on-call", Integrations: []string{"webhook", "email"}}}
	f := alertFacts{address: "am", receivers: receivers, effect: telemetry.AlertEffect{Consent: true, Reached: []string{"on-call"}}}
	requireAll(t, "a receiver", judgeAlerts(f, "on-call"), "ok Alertmanager am: reachable", "ok alert receiver on-call: the synthetic alert is routed to it alone: webhook, email")
	f.effect.Consent = false
	lines := judgeAlerts(f, "on-call")
	if len(lines) != 2 || lines[0].Result != OK || lines[1].Result != WouldStop {
		t.Errorf("an alert that is not permitted: %+v", lines)
	}
}
