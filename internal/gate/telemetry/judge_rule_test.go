package telemetry

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// ruledFacts are healthy facts of an alert of a rule.
func ruledFacts(t *testing.T) (*Gate, facts) {
	t.Helper()
	g := gate(t)
	g.telemetry.Alert.Through = site.ThroughRule
	f := healthy(g)
	fired := 20.0
	f.alert.Through, f.alert.FiredSeconds, f.alert.NotFiredSeconds, f.alert.WaitedSeconds = site.ThroughRule, &fired, 19.5, 60
	expires := 240.0
	f.end.ExpiresSeconds = &expires
	f.alertmanagers.Processes = []string{"p-0 2026-11-21T00:00:00Z"}
	return g, f
}

func TestAlertsOfRules(t *testing.T) {
	t.Parallel()
	const pass, fail, unseen = check.Passed, check.Failed, check.Unobserved
	late, yes, no := 301.0, true, false
	for name, tt := range map[string]struct {
		change           func(*Gate, *facts)
		verdict          check.Verdict
		suspect, message string
	}{
		"fired and delivered": {func(*Gate, *facts) {}, pass, "", ""},
		// Thanos Querier and Mimir answer 404, and neither does the list of AMP's Prometheus-compatible APIs have it.
		"Alertmanagers are not listed, and the alert arrives": {func(_ *Gate, f *facts) {
			*f.alertmanagers, f.end.QuietSeconds = alertmanagerFigures{NotServed: true}, 120
		}, pass, "", ""},
		"Alertmanagers are not listed, and it does not": {func(_ *Gate, f *facts) {
			*f.alertmanagers, f.alert.Alerts = alertmanagerFigures{NotServed: true}, nil
		}, fail, "Alertmanager", "does not list the synthetic alert"},
		"Alertmanagers are not listed, and the alert was posted": {func(g *Gate, f *facts) {
			g.telemetry.Alert.Through, f.alert.Through = site.ThroughAlertmanager, site.ThroughAlertmanager
			*f.alertmanagers = alertmanagerFigures{NotServed: true}
		}, unseen, "Prometheus", "does not serve /api/v1/alertmanagers"},
		"the time of the rule is not that of the route": {func(_ *Gate, f *facts) {
			slow := 290.0
			f.alert.FiredSeconds, f.alert.WaitedSeconds, f.alert.NotYetSeconds, f.alert.NotFiredSeconds = &slow, 640, 639, 289
		}, pass, "", ""},
		"delivered late after it fired": {func(_ *Gate, f *facts) { f.alert.WaitedSeconds, f.alert.NotYetSeconds = 391, 390 }, fail, "receiver on-call", "the maximum is 6m0s"},
		"sent late, or found firing late": {func(_ *Gate, f *facts) {
			f.alert.NotFiredSeconds, f.alert.NotYetSeconds, f.alert.WaitedSeconds = 0, 361, 362
		}, unseen, "receiver on-call", "between 5m41s and 6m2s after it was sent"},
		"Prometheus did not answer": {func(_ *Gate, f *facts) {
			f.alert.FiredSeconds, f.alert.Alerts, f.alert.WaitedSeconds, f.alert.FiringErr = nil, nil, 301, "503"
		}, unseen, "Prometheus", "is unknown: 503"},
		"it expires just before it is resolved":        {func(_ *Gate, f *facts) { f.end.WaitedSeconds = 229 }, pass, "", ""},
		"it expires by a clock that is a little ahead": {func(_ *Gate, f *facts) { f.end.WaitedSeconds = 239 }, fail, "Alertmanager", "expired and was not resolved"},
		"it expires and is not resolved":               {func(_ *Gate, f *facts) { f.end.WaitedSeconds = 240 }, fail, "Alertmanager", "expired and was not resolved"},
		"when it expires is unknown":                   {func(_ *Gate, f *facts) { f.end.ExpiresSeconds = nil }, unseen, "Alertmanager", "resolved or expired is unknown"},
		"the process is not known":                     {func(_ *Gate, f *facts) { f.before.Started, f.after.Started = 0, 0 }, unseen, "receiver on-call", "its start is not known"},
		"posted, and the site requires a rule":         {func(_ *Gate, f *facts) { f.alert.Through = site.ThroughAlertmanager }, unseen, "receiver on-call", `raised through "alertmanager"`},
		"the rule does not fire": {func(_ *Gate, f *facts) {
			f.alert.FiredSeconds, f.alert.Alerts, f.alert.WaitedSeconds = nil, nil, 301
		}, fail, "PrometheusRule", "does not fire the alert"},
		"not watched for long enough": {func(_ *Gate, f *facts) {
			f.alert.FiredSeconds, f.alert.Alerts, f.alert.WaitedSeconds = nil, nil, 299
		}, unseen, "PrometheusRule", "only 4m59s of 5m0s"},
		"found firing too late":         {func(_ *Gate, f *facts) { f.alert.FiredSeconds, f.alert.WaitedSeconds = &late, 310 }, unseen, "PrometheusRule", "it was not read in time"},
		"fired and not at Alertmanager": {func(_ *Gate, f *facts) { f.alert.Alerts = nil }, fail, "Alertmanager", "which Prometheus fires"},
		"its labels are lost on the way": {func(_ *Gate, f *facts) {
			f.alert.Alerts[0].Labels, f.alert.Alerts[0].Receivers = nil, []string{"none"}
		}, fail, "Prometheus", `without its label severity="critical"`},
		"resolved when it has to be":  {func(_ *Gate, f *facts) { f.end.WaitedSeconds, *f.end.ExpiresSeconds = 300, 500 }, pass, "", ""},
		"resolved, and read too late": {func(_ *Gate, f *facts) { f.end.WaitedSeconds = 301 }, unseen, "Alertmanager", "it was not read in time"},
		"of two Prometheus servers, one may send it again": {func(_ *Gate, f *facts) {
			f.alertmanagers.Processes, f.end.QuietSeconds = append(f.alertmanagers.Processes, "p-1"), 119
		}, unseen, "Prometheus", "not listed for only 1m59s"},
		"two Prometheus servers, and none sent it again": {func(_ *Gate, f *facts) {
			f.alertmanagers.Processes, f.end.QuietSeconds = append(f.alertmanagers.Processes, "p-1"), 120
		}, pass, "", ""},
		"how many Prometheus servers is unknown": {func(_ *Gate, f *facts) { f.alertmanagers.Processes = nil }, unseen, "Prometheus", "another one may send it again"},
		"its end was not observed":               {func(_ *Gate, f *facts) { f.end = nil }, unseen, "the end of the synthetic alert", "was not observed"},
		"not resolved, watched shortly":          {func(_ *Gate, f *facts) { unresolved(f, 299, &yes) }, unseen, "Alertmanager", "for only 4m59s of 5m0s"},
		"its rule does not end":                  {func(_ *Gate, f *facts) { unresolved(f, 300, &yes) }, fail, "PrometheusRule", "still fires the alert"},
		"Alertmanager keeps it":                  {func(_ *Gate, f *facts) { unresolved(f, 300, &no) }, fail, "Alertmanager https://am", "does not resolve"},
		"not resolved, cause unknown":            {func(_ *Gate, f *facts) { unresolved(f, 300, nil) }, unseen, "Prometheus", "is unknown"},
		"at one of two Alertmanagers":            {func(_ *Gate, f *facts) { f.alert.NotListedBy = []string{"https://am-2"} }, fail, "Alertmanager https://am-2", "another one does"},
		"another alert of the receiver":          {func(_ *Gate, f *facts) { f.alert.Others = []string{"NodeDown"} }, unseen, "receiver on-call", "NodeDown"},
		"inhibited": {func(_ *Gate, f *facts) {
			f.alert.Alerts[0].State, f.alert.Alerts[0].InhibitedBy = "suppressed", []string{"x"}
		}, fail, "receiver on-call", "inhibited by [x]"},
		"Prometheus sends to another Alertmanager too": {func(_ *Gate, f *facts) {
			f.alertmanagers.Active = append(f.alertmanagers.Active, "https://central/api/v2/alerts")
		}, unseen, "Prometheus", "sends the alert of a rule to 2 Alertmanagers (https://10.0.0.9:9093/api/v2/alerts, https://central/api/v2/alerts), and the site names 1"},
		"one Alertmanager is listed twice": {func(_ *Gate, f *facts) {
			f.alertmanagers.Active = append(f.alertmanagers.Active, f.alertmanagers.Active[0])
		}, pass, "", ""},
		"its cluster has a member that is not named": {func(_ *Gate, f *facts) { f.before.Members = 2 }, unseen, "Alertmanager", "its cluster has 2 members, and the site names 1"},
		"to which Alertmanagers is unknown": {func(_ *Gate, f *facts) {
			f.errs[kindAlertmanagers], f.alert = "503", nil
		}, unseen, "Prometheus' Alertmanagers", "503"},
		"Alertmanager has no counters": {func(_ *Gate, f *facts) {
			f.errs[kindNotifications+"/"+targetBefore], f.alert, f.after, f.end = "404", nil, nil, nil
		}, unseen, "Alertmanager's counters", "404"},
		"no notification is counted": {func(_ *Gate, f *facts) {
			f.before.Total, f.alert, f.after, f.end = nil, nil, nil, nil
		}, unseen, "Alertmanager's counters", "alertmanager_notifications_total has no series"},
		"routed to another receiver too, by a label of Prometheus": {func(_ *Gate, f *facts) {
			f.alert.Alerts[0].Receivers = []string{"on-call", "pager"}
		}, fail, "receiver on-call", "went to pager too"},
		"two routes lead to the receiver": {func(_ *Gate, f *facts) { f.alert.Alerts[0].Receivers = []string{"on-call", "on-call"} }, pass, "", ""},
		"no consent":                      {func(_ *Gate, f *facts) { f.receivers.Consent = false }, unseen, "receiver on-call", "no alert is raised"},
		"routed to another receiver too":  {func(_ *Gate, f *facts) { f.receivers.Reached = []string{"on-call", "pager"} }, unseen, "receiver on-call", "routed to on-call, pager"},
		"routed to the default receiver":  {func(_ *Gate, f *facts) { f.receivers.Reached = []string{"default"} }, unseen, "receiver on-call", "routed to default"},
		"mutes alerts of others":          {func(_ *Gate, f *facts) { f.receivers.Inhibits = []string{`{severity="critical"}`} }, unseen, "receiver on-call", `source {severity="critical"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, f := ruledFacts(t)
			tt.change(g, &f)
			checktest.Judged(t, plan.Judge(g, f.observations(t)), tt.verdict, tt.suspect, tt.message)
		})
	}
}

// unresolved makes the alert one that an Alertmanager still lists this many seconds after its end.
func unresolved(f *facts, waited float64, firing *bool) {
	f.end = &endFigures{WaitedSeconds: waited, ListedBy: []string{"https://am"}, Firing: firing}
}

// Two addresses of one Alertmanager counted its notification twice: one of two integrations looked
// like both.
func TestOneProcessIsNotTwo(t *testing.T) {
	t.Parallel()
	receiver := prom.Receiver{Name: "on-call", Integrations: []string{"webhook", "webhook"}}
	if settled(receiver, []prom.Notifications{*counters(3, 1, 2), *counters(3, 1, 2)}, []prom.Notifications{*counters(5, 1, 3), *counters(5, 1, 3)}) {
		t.Error("settled")
	}
}

func TestAlertmanagersHaveTheSameReceivers(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.reach.AlertmanagerReplicas = []site.Endpoint{{URL: "https://am-2"}}
	f := healthy(g)
	obs := f.observations(t)
	f.receivers.Receivers = []prom.Receiver{{Name: "on-call", Integrations: []string{"pagerduty", "webhook"}}}
	for _, o := range f.observations(t) {
		if o.Kind == kindReceivers {
			o.Target = replicaTarget(targetAlertmanager, 1)
			obs = append(obs, o)
		}
	}
	checktest.Judged(t, plan.Judge(g, obs), check.Unobserved, "receiver on-call", "different receivers or integrations")
}

// Of several Alertmanagers one sends the notification: their counters add up.
func TestCountersOfReplicasAddUp(t *testing.T) {
	t.Parallel()
	receiver := prom.Receiver{Name: "on-call", Integrations: []string{"webhook"}}
	second := func(total, failed, delivered float64) prom.Notifications {
		n := counters(total, failed, delivered)
		n.Started = 2000
		return *n
	}
	before := []prom.Notifications{*counters(3, 1, 2), second(7, 0, 7)}
	for name, c := range map[string]struct {
		after []prom.Notifications
		want  bool
	}{
		"the first sent it":        {[]prom.Notifications{*counters(4, 1, 3), second(7, 0, 7)}, true},
		"the second sent it":       {[]prom.Notifications{*counters(3, 1, 2), second(8, 0, 8)}, true},
		"the second failed":        {[]prom.Notifications{*counters(3, 1, 2), second(8, 1, 7)}, true},
		"none sent it":             {before, false},
		"one was restarted":        {[]prom.Notifications{*counters(4, 1, 3), {Started: 5}}, false},
		"one of them is not asked": {[]prom.Notifications{*counters(4, 1, 3)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := settled(receiver, before, c.after); got != c.want {
				t.Errorf("settled: %t", got)
			}
		})
	}
}
