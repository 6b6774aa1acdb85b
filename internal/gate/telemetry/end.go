package telemetry

import (
	"context"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// endFigures is the state of the synthetic alert after it was ended.
type endFigures struct {
	// WaitedSeconds is the wait until this state was first read.
	WaitedSeconds float64 `json:"waitedSeconds"`
	// ListedBy are the Alertmanagers that list the alert.
	ListedBy []string `json:"listedBy,omitempty"`
	// Firing reports whether Prometheus fires the alert; nil if unknown, or if there is no rule.
	Firing *bool `json:"firing,omitempty"`
	// ExpiresSeconds is when Alertmanager would have dropped the alert without a resolved one, as last
	// seen; like WaitedSeconds from its end. Nil if unknown.
	ExpiresSeconds *float64 `json:"expiresSeconds,omitempty"`
	// QuietSeconds is for how long after WaitedSeconds no Alertmanager listed the alert again.
	QuietSeconds float64 `json:"quietSeconds,omitempty"`
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

// observeEnd waits until no Alertmanager has listed the alert for as long as quiet says, and records that state, or the
// last one.
func (p *proof) observeEnd(ctx context.Context) error {
	attempt := p.begin(p.rec, kindAlertEnd, p.amNames(), p.raiser.endCommand()+"; GET /api/v2/alerts?filter="+attemptLabel)
	ended := p.deps.Clock.Now()
	var gone *time.Time // since when no Alertmanager lists it
	return p.poll(ctx, alertEvery, p.resolvesWithin()+p.quiet, func(last bool) (bool, error) {
		due := p.deps.Clock.Since(ended) >= p.resolvesWithin()
		f, all, failed := p.listed(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		now := p.deps.Clock.Now()
		switch {
		case len(f.ListedBy) > 0:
			gone = nil
		case gone == nil && failed == nil:
			gone = &now
		}
		quiet := gone != nil && now.Sub(*gone) >= p.quiet
		if !last && (gone != nil || !due) && (failed != nil || !quiet) {
			return false, nil //nolint:nilerr // the next reading may succeed
		}
		if p.byRule() && len(f.ListedBy) > 0 {
			if firing, err := p.firing(ctx); err == nil {
				f.Firing = &firing
			}
		}
		f.WaitedSeconds = p.deps.Clock.Since(ended).Seconds()
		if gone != nil {
			f.WaitedSeconds, f.QuietSeconds = gone.Sub(ended).Seconds(), now.Sub(*gone).Seconds()
		}
		if !p.endsAt.IsZero() {
			expires := p.endsAt.Sub(ended).Seconds()
			f.ExpiresSeconds = &expires
		}
		return true, attempt.Raw(all).Record(f, failed)
	})
}

// listed reads which Alertmanagers list the alert.
func (p *proof) listed(ctx context.Context) (f endFigures, all []byte, failed error) {
	for _, am := range p.ams {
		alerts, raw, err := am.Alerts(ctx, attemptLabel, p.attempt)
		all = append(append(all, raw...), '\n')
		if err != nil {
			failed = err
		} else if p.saw(alerts); len(alerts) > 0 {
			f.ListedBy = append(f.ListedBy, am.Name())
		}
	}
	return f, all, failed
}
