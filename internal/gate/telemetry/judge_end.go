package telemetry

import (
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// expirySlack is how close to its expiry an alert that is gone counts as expired: the expiry is of Prometheus' clock, and
// the wait of ours. Prometheus resends an active alert before half of its life is over, so a resolved one is gone much
// earlier (sendAlerts in rules/alerting.go of Prometheus).
const expirySlack = 10 * time.Second

const resolveRemedy = "check that Prometheus can send it resolved alerts (alerting in its configuration, its log), and the resolve_timeout of Alertmanager"

// judgeEnd requires that the alert is resolved once what raised it has ended.
func (g *Gate) judgeEnd(b *check.Builder, obs []check.Observation) {
	f, o, ok := check.RequireLast[endFigures](b, obs, kindAlertEnd, "", "the end of the synthetic alert", alertmanagerRemedy)
	if !ok {
		return
	}
	limit, source := g.resolvesWithin(), "site telemetry.alert.ruleWithin"
	if g.telemetry.Alert.Through == site.ThroughAlertmanager {
		source = "gate: an alert that was posted with an end has ended"
	}
	waited := f.waited().Round(time.Millisecond)
	switch {
	case len(f.ListedBy) == 0 && f.waited() > limit:
		b.Unobserved(o.ID, "Alertmanager", busyRemedy, "the end of the synthetic alert was found after %s, and the maximum is %s: it was not read in time", waited, limit)
	case len(f.ListedBy) == 0 && g.byRule() && f.ExpiresSeconds == nil:
		b.Unobserved(o.ID, "Alertmanager", alertmanagerRemedy, "the synthetic alert has no endsAt: whether it was resolved or expired is unknown")
	case len(f.ListedBy) == 0 && g.byRule() && f.WaitedSeconds >= *f.ExpiresSeconds-expirySlack.Seconds():
		b.Fail(o.ID, "Alertmanager", resolveRemedy, "the synthetic alert expired and was not resolved: Prometheus last sent it as active, until %s after its rule ended", seconds(*f.ExpiresSeconds).Round(time.Second))
	case len(f.ListedBy) == 0 && g.byRule() && seconds(f.QuietSeconds) < quietIn(obs):
		b.Unobserved(o.ID, "Prometheus", "run the gate again; or set reach.prometheus to one Prometheus that serves /api/v1/status/runtimeinfo",
			"several Prometheus servers may answer, and the synthetic alert was not listed for only %s: within %s another one may send it again", seconds(f.QuietSeconds).Round(time.Millisecond), quietIn(obs))
	case len(f.ListedBy) == 0:
		b.Figure(check.Figure{Name: "end of rule to resolved alert", Value: f.WaitedSeconds, Unit: "s", Limit: limit.Seconds(), Relation: "<=", Source: source})
	case f.waited() < limit:
		b.Unobserved(o.ID, "Alertmanager", "run the gate again", "whether the synthetic alert is resolved was observed for only %s of %s", waited, limit)
	case g.byRule() && f.Firing == nil:
		b.Unobserved(o.ID, "Prometheus", prometheusRemedy, "%s lists the synthetic alert %s after its rule ended, and whether Prometheus still fires it is unknown", f.ListedBy[0], waited)
	case g.byRule() && *f.Firing:
		b.Fail(o.ID, "PrometheusRule", "read the logs of prometheus-operator and of the config-reloader of the Prometheus pods: changes of rules do not reach Prometheus. The alert ends by itself",
			"Prometheus still fires the alert of the run's rule %s after the rule became false", waited)
	default:
		b.Fail(o.ID, "Alertmanager "+f.ListedBy[0], resolveRemedy,
			"still lists the synthetic alert %s after it ended: the alert does not resolve", waited)
	}
}

// quietIn is quietOf the processes that were observed; without them, as if they were not known.
func quietIn(obs []check.Observation) time.Duration {
	var f alertmanagerFigures
	for _, o := range check.OfKind(obs, kindAlertmanagers) {
		if last, err := check.Decode[alertmanagerFigures](o); err == nil {
			f = last
		}
	}
	return quietOf(f.Processes)
}
