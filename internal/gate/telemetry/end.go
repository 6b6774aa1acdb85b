package telemetry

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// endFigures is the state of the synthetic alert after it was ended.
type endFigures struct {
	// WaitedSeconds is the wait until this state was read.
	WaitedSeconds float64 `json:"waitedSeconds"`
	// ListedBy are the Alertmanagers that list the alert.
	ListedBy []string `json:"listedBy,omitempty"`
	// Firing reports whether Prometheus fires the alert; nil if unknown, or if there is no rule.
	Firing *bool `json:"firing,omitempty"`
	// ExpiresSeconds is when Alertmanager would have dropped the alert without a resolved one, as last
	// seen; like WaitedSeconds from its end. Nil if unknown.
	ExpiresSeconds *float64 `json:"expiresSeconds,omitempty"`
}

// saw keeps the latest time at which the alert expires.
func (p *proof) saw(alerts []prom.AlertState) {
	for _, a := range alerts {
		if a.EndsAt.After(p.endsAt) {
			p.endsAt = a.EndsAt
		}
	}
}

func (f endFigures) waited() time.Duration { return seconds(f.WaitedSeconds) }

// resolvesWithin limits the resolution of the alert once it was ended: a change of a rule takes as
// long as a new rule.
func (g *Gate) resolvesWithin() time.Duration {
	if g.byRule() {
		return g.telemetry.Alert.RuleWithin.D()
	}
	return endWithin
}

// observeEnd waits until no Alertmanager lists the alert and records that state, or the last one.
func (p *proof) observeEnd(ctx context.Context) error {
	attempt := p.begin(p.rec, kindAlertEnd, p.amNames(), p.raiser.endCommand()+"; GET /api/v2/alerts?filter="+attemptLabel)
	ended := p.deps.Clock.Now()
	return p.poll(ctx, alertEvery, p.resolvesWithin(), func(last bool) (bool, error) {
		var f endFigures
		var all []byte
		var failed error
		for _, am := range p.ams {
			alerts, raw, err := am.Alerts(ctx, attemptLabel, p.attempt)
			all = append(append(all, raw...), '\n')
			if err != nil {
				failed = err
			} else if p.saw(alerts); len(alerts) > 0 {
				f.ListedBy = append(f.ListedBy, am.Name())
			}
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if !last && (failed != nil || len(f.ListedBy) > 0) {
			return false, nil //nolint:nilerr // the next reading may succeed
		}
		if p.byRule() && len(f.ListedBy) > 0 {
			if firing, err := p.firing(ctx); err == nil {
				f.Firing = &firing
			}
		}
		f.WaitedSeconds = p.deps.Clock.Since(ended).Seconds()
		if !p.endsAt.IsZero() {
			expires := p.endsAt.Sub(ended).Seconds()
			f.ExpiresSeconds = &expires
		}
		return true, attempt.Raw(all).Record(f, failed)
	})
}

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
	case len(f.ListedBy) == 0 && g.byRule() && f.WaitedSeconds >= *f.ExpiresSeconds:
		b.Fail(o.ID, "Alertmanager", resolveRemedy, "the synthetic alert expired and was not resolved: Prometheus last sent it as active, until %s after its rule ended", seconds(*f.ExpiresSeconds).Round(time.Second))
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
