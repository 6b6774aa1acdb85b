package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	alertName = "FirstlightSynthetic"
	// runLabel identifies the run's alert, attemptLabel one attempt of the run to raise it: an alert of
	// an attempt that was killed may still be active.
	runLabel, attemptLabel = site.RunAlertLabel, "firstlight_attempt"
	// alertEvery is the interval of polling Alertmanager.
	alertEvery = 500 * time.Millisecond
	// endWithin limits each request that ends the alert, and the resolution of a posted one.
	endWithin = time.Minute
)

// observeAlert follows a synthetic alert to its receiver.
func (g *Gate) observeAlert(ctx context.Context, cluster *kube.Cluster, p prom.Prometheus, rec check.Recorder) error {
	rec.Progress("following a synthetic alert to receiver %s", g.telemetry.Receiver)
	targets, known, err := g.observeAlertmanagers(ctx, p, rec)
	if err != nil {
		return err
	}
	way, ready, err := g.observeReceivers(ctx, cluster, p, rec)
	defer closeAll(way.ams)
	if err != nil || !ready || !known || g.unnamed(targets) {
		return err
	}
	proof := &proof{
		Gate: g, way: way, prometheus: p, rec: rec, attempt: g.deps.Clock.Now().UTC().Format("20060102T150405.000"), others: map[string]bool{},
	}
	if g.byRule() {
		proof.quiet = quietOf(targets.Processes)
	}
	alert := g.alert()
	alert.Labels[attemptLabel] = proof.attempt
	proof.labels, proof.raiser = alert.Labels, g.newRaiser(cluster, way.ams, alert)
	if err := proof.clear(ctx); err != nil {
		return proof.failed(ctx, g.begin(rec, kindAlert, proof.amNames(), "GET /api/v2/alerts?filter="+runLabel), err)
	}
	proof.before = tallyOf(ctx, way.ams)
	if err := proof.before.record(g, rec, targetBefore); err != nil || !proof.before.ok() {
		return err
	}
	if slices.ContainsFunc(proof.before.each, func(n prom.Notifications) bool { return len(n.Total) == 0 || g.unnamedMembers(n.Members) }) {
		return nil
	}
	return proof.run(ctx)
}

func (g *Gate) receiver(receivers []prom.Receiver) (prom.Receiver, bool) {
	i := slices.IndexFunc(receivers, func(r prom.Receiver) bool { return r.Name == g.telemetry.Receiver })
	if i < 0 {
		return prom.Receiver{}, false
	}
	return receivers[i], true
}

// alert is the synthetic alert. Its labels select the route that is proven.
func (g *Gate) alert() prom.Alert {
	labels := map[string]string{"alertname": alertName, runLabel: g.deps.RunID}
	maps.Copy(labels, g.telemetry.Alert.Labels)
	return prom.Alert{
		Labels: labels,
		Annotations: map[string]string{
			"summary":     "Synthetic alert of firstlight: nothing is wrong",
			"description": "firstlight proves that alerts reach this receiver. No action is required; the alert expires.",
		},
	}
}

// byRule reports whether the alert is that of a rule.
func (g *Gate) byRule() bool { return g.telemetry.Alert.Through != site.ThroughAlertmanager }

// watches is how long the alert is watched.
func (g *Gate) watches() time.Duration {
	if g.byRule() {
		return g.telemetry.Alert.RuleWithin.D() + g.profile.AlertWithin.Duration()
	}
	return g.profile.AlertWithin.Duration()
}

// alertLasts is how long the alert is active unless it is resolved: longer than it is watched, and
// than its resolution is.
func (g *Gate) alertLasts() time.Duration { return g.watches() + g.resolvesWithin() + endWithin }

// proof raises the alert, watches it and ends it.
type proof struct {
	*Gate
	way
	prometheus prom.Prometheus
	raiser     raiser
	before     tally
	attempt    string // the value of attemptLabel
	labels     map[string]string
	rec        check.Recorder
	raised     time.Time
	// fired is how many seconds after raised the rule was found firing; nil if it was not. notFired is
	// that of the last query before which found it not firing, firingErr the error of the last query.
	fired     *float64
	notFired  float64
	firingErr string
	// endsAt is the last one that an Alertmanager had for the alert.
	endsAt time.Time
	// others are the names of other alerts of the receiver.
	others map[string]bool
	// quiet is how long no Alertmanager must list the alert after its end.
	quiet time.Duration
}

// amNames are the names of all Alertmanagers, as a target.
func (w way) amNames() string {
	var names []string
	for _, am := range w.ams {
		names = append(names, am.Name())
	}
	return strings.Join(names, ", ")
}

func (p *proof) run(ctx context.Context) error {
	attempt := p.begin(p.rec, kindAlert, p.amNames(), p.raiser.command()+"; GET /api/v2/alerts and /api/v2/alerts/groups?filter="+attemptLabel)
	p.raised = p.deps.Clock.Now()
	if err := p.raiser.raise(ctx, p.raised.Add(p.alertLasts())); err != nil {
		// Part of it may have been raised: the alert at one Alertmanager, or a rule whose response was lost.
		return errors.Join(p.failed(ctx, attempt, err), p.always(ctx, p.raiser.end), p.always(ctx, p.raiser.remove))
	}
	watched := p.watch(ctx, attempt)
	return errors.Join(watched, p.finish(ctx))
}

// failed records that the alert could not be raised.
func (*proof) failed(ctx context.Context, attempt check.Attempt, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return attempt.Record(nil, err)
}

// watch waits until the alert is at its receiver and the receiver's integrations have been used,
// then records its state.
func (p *proof) watch(ctx context.Context, attempt check.Attempt) error {
	notYet := time.Duration(0) // when the previous poll began
	return p.poll(ctx, alertEvery, p.watches(), func(last bool) (bool, error) {
		begun := p.deps.Clock.Since(p.raised)
		figures, raw, alertErr := p.read(ctx)
		after := tallyOf(ctx, p.ams)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		figures.NotYetSeconds = notYet.Seconds()
		done := alertErr == nil && (p.astray(figures) || after.ok() && p.reached(figures) && settled(p.to, p.before.each, after.each))
		unfired := p.byRule() && p.fired == nil && begun > p.telemetry.Alert.RuleWithin.D()
		if !done && !last && !unfired {
			notYet = begun
			return false, nil
		}
		if err := attempt.Raw(raw).Record(figures, alertErr); err != nil {
			return false, err
		}
		return true, after.record(p.Gate, p.rec, targetAfter)
	})
}

// read reads the state of the alert at every Alertmanager.
func (p *proof) read(ctx context.Context) (alertFigures, []byte, error) {
	f := alertFigures{Through: p.telemetry.Alert.Through, Labels: p.labels}
	var all []byte
	for _, am := range p.ams {
		alerts, raw, err := am.Alerts(ctx, attemptLabel, p.attempt)
		all = append(append(all, raw...), '\n')
		if err != nil {
			return f, all, err
		}
		if len(alerts) == 0 {
			f.NotListedBy = append(f.NotListedBy, am.Name())
		} else {
			all = append(append(all, p.addMuted(ctx, am, alerts)...), '\n')
		}
		f.Alerts = append(f.Alerts, alerts...)
		p.saw(alerts)
		others, err := am.Notifying(ctx, p.telemetry.Receiver)
		if err != nil {
			return f, all, err
		}
		for _, a := range others {
			if a.Labels[attemptLabel] != p.attempt { // also of another attempt of this run
				p.others[a.Labels["alertname"]] = true
			}
		}
	}
	f.Others = slices.Sorted(maps.Keys(p.others))
	if p.byRule() && p.fired == nil {
		asked := p.deps.Clock.Since(p.raised).Seconds()
		firing, err := p.firing(ctx)
		switch {
		case firing || len(f.Alerts) > 0:
			waited := p.deps.Clock.Since(p.raised).Seconds()
			p.fired, p.firingErr = &waited, ""
		case err != nil:
			p.firingErr = err.Error()
		default:
			p.notFired, p.firingErr = asked, ""
		}
	}
	f.FiredSeconds, f.NotFiredSeconds, f.FiringErr = p.fired, p.notFired, p.firingErr
	f.WaitedSeconds = p.deps.Clock.Since(p.raised).Seconds()
	return f, all, nil
}

// firing reports whether Prometheus fires the alert. A rule's own series has no label of this
// cluster.
func (p *proof) firing(ctx context.Context) (bool, error) {
	samples, _, err := p.prometheus.All().Query(ctx, fmt.Sprintf("ALERTS{alertname=%q,alertstate=\"firing\",%s=%q}", alertName, attemptLabel, p.attempt), time.Time{})
	return len(samples) > 0, err
}

// finish ends the alert and removes what raised it, also after ctx has ended. The resolved alert
// needs the rule: unless ctx has ended, finish observes first that it is resolved.
func (p *proof) finish(ctx context.Context) error {
	var problems []error
	if err := p.always(ctx, p.raiser.end); err != nil {
		problems = append(problems, fmt.Errorf("end the synthetic alert: %w", err))
	} else if ctx.Err() == nil && (!p.byRule() || p.fired != nil) {
		problems = append(problems, p.observeEnd(ctx))
	}
	return errors.Join(append(problems, p.always(ctx, p.raiser.remove))...)
}

// always does something that is due also after ctx has ended.
func (*proof) always(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	return do(ctx)
}
