package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// flushSlack is added to a group_interval, after which Alertmanager sends resolved notifications.
const flushSlack = 15 * time.Second

// clear ends what an earlier attempt of this run has left and waits until its notifications are over,
// the resolved one too: counters are not by alert.
func (p *proof) clear(ctx context.Context) error {
	if err := p.raiser.endEarlier(ctx); err != nil {
		return fmt.Errorf("end the alert of an earlier attempt of this run: %w", err)
	}
	err := p.poll(ctx, alertEvery, p.resolvesWithin()+p.groupInterval+flushSlack, func(last bool) (bool, error) {
		left, err := p.earlier(ctx)
		if left == nil && err == nil {
			return true, nil
		}
		if last {
			return false, errors.Join(left, err)
		}
		return false, nil
	})
	return errors.Join(err, p.always(ctx, p.raiser.remove))
}

// earlier is an error if an alert of an earlier attempt may still be notified.
func (p *proof) earlier(ctx context.Context) (left, err error) {
	for _, am := range p.ams {
		alerts, _, err := am.Alerts(ctx, runLabel, p.deps.RunID)
		if err != nil {
			return nil, err
		}
		if len(alerts) > 0 {
			return fmt.Errorf("%s lists the alert of an earlier attempt of this run: run the gate again when it has ended", am.Name()), p.endOrphans(ctx, am, alerts)
		}
	}
	if !p.byRule() {
		return nil, nil
	}
	within := p.groupInterval + flushSlack
	samples, _, err := p.prometheus.All().Query(ctx, fmt.Sprintf("last_over_time(ALERTS{alertname=%q,%s=%q,%s!=%q}[%dms])", alertName, runLabel, p.deps.RunID, attemptLabel, p.attempt, within.Milliseconds()), time.Time{})
	if err == nil && len(samples) > 0 {
		left = fmt.Errorf("an earlier attempt of this run fired its alert less than %s ago: its resolved notification may not have been sent", within)
	}
	return left, err
}

// endOrphans ends alerts that nothing raises any more: those that a killed attempt posted, and those of a rule that
// was removed with the objects of a killed run. Prometheus does not resolve the latter, so that both would be
// active for minutes.
func (p *proof) endOrphans(ctx context.Context, am prom.Alertmanager, alerts []prom.AlertState) error {
	if raised, err := p.raiser.raises(ctx); raised || err != nil {
		return err
	}
	if p.byRule() {
		samples, _, err := p.prometheus.All().Query(ctx, fmt.Sprintf("ALERTS{alertname=%q,%s=%q}", alertName, runLabel, p.deps.RunID), time.Time{})
		if err != nil || len(samples) > 0 {
			return err
		}
	}
	var ended []prom.Alert
	for _, a := range alerts {
		now := p.deps.Clock.Now()
		ended = append(ended, prom.Alert{Labels: a.Labels, StartsAt: now, EndsAt: now})
	}
	return am.Post(ctx, ended...)
}
