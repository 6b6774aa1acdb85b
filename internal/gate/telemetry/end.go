package telemetry

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
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
