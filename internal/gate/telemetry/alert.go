package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// runLabel identifies the run's alert.
const runLabel = "firstlight_run"

// alertEvery is the interval of polling Alertmanager.
const alertEvery = 500 * time.Millisecond

// endWithin limits the resolution of the alert after the gate's context has ended.
const endWithin = time.Minute

// observeAlert follows a synthetic alert to its receiver.
func (g *Gate) observeAlert(ctx context.Context, cluster *kube.Cluster, p prom.Prometheus, rec check.Recorder) error {
	rec.Progress("following a synthetic alert to receiver %s", g.telemetry.Receiver)
	attempt := g.begin(rec, kindAlertmanagers, p.Name(), "GET /api/v1/alertmanagers")
	active, raw, err := p.Alertmanagers(ctx)
	if err := attempt.Raw(raw).Record(alertmanagerFigures{Active: active}, err); err != nil {
		return err
	}
	client, unreachable := connect(g.reach.Alertmanager, cluster)
	if unreachable != nil {
		return g.begin(rec, kindReceivers, "alertmanager", "connect to Alertmanager").Record(nil, unreachable)
	}
	defer client.Close()
	am := prom.Alertmanager{Client: client}
	attempt = g.begin(rec, kindReceivers, am.Name(), "GET /api/v2/status: receivers and their integrations")
	receivers, err := am.Receivers(ctx)
	// The raw answer is not stored: Alertmanager's configuration may contain secrets.
	if err := attempt.Record(receiverFigures{Receivers: receivers}, err); err != nil {
		return err
	}
	receiver, ok := g.receiver(receivers)
	if err != nil || !ok || len(receiver.Integrations) == 0 {
		return nil // recorded: an alert could not arrive
	}
	attempt = g.begin(rec, kindNotifications, targetBefore, "GET /metrics: alertmanager_notifications_total, _failed_total, alertmanager_notification_requests_total, _failed_total")
	before, raw, err := am.Notifications(ctx)
	if err := attempt.Raw(raw).Record(before, err); err != nil || len(before.Total) == 0 {
		return err
	}
	return g.sendAlert(ctx, am, receiver, before, rec)
}

func (g *Gate) receiver(receivers []prom.Receiver) (prom.Receiver, bool) {
	i := slices.IndexFunc(receivers, func(r prom.Receiver) bool { return r.Name == g.telemetry.Receiver })
	if i < 0 {
		return prom.Receiver{}, false
	}
	return receivers[i], true
}

// alert is the synthetic alert. It has severity critical, so that it takes the route of
// critical alerts, and expires if the process is killed.
func (g *Gate) alert(now time.Time) prom.Alert {
	return prom.Alert{
		Labels: map[string]string{"alertname": "FirstlightSynthetic", runLabel: g.deps.RunID, "severity": "critical"},
		Annotations: map[string]string{
			"summary":     "Synthetic alert of firstlight: nothing is wrong",
			"description": "firstlight proves that alerts reach this receiver. No action is required; the alert expires.",
		},
		StartsAt: now, EndsAt: now.Add(g.alertLasts()),
	}
}

// alertLasts is how long the alert is active unless it is resolved.
func (g *Gate) alertLasts() time.Duration { return g.profile.AlertWithin.Duration() + endWithin }

// sendAlert posts the alert, watches it and resolves it.
func (g *Gate) sendAlert(ctx context.Context, am prom.Alertmanager, receiver prom.Receiver, before prom.Notifications, rec check.Recorder) error {
	attempt := g.begin(rec, kindAlert, am.Name(), "POST /api/v2/alerts FirstlightSynthetic; GET /api/v2/alerts?filter="+runLabel)
	posted := g.deps.Clock.Now()
	alert := g.alert(posted)
	if err := am.Post(ctx, alert); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return attempt.Record(nil, err)
	}
	watched := g.watchAlert(ctx, am, attempt, posted, alert, receiver, before, rec)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	alert.EndsAt = g.deps.Clock.Now()
	if err := am.Post(end, alert); err != nil {
		return errors.Join(watched, fmt.Errorf("end the synthetic alert: %w", err))
	}
	return watched
}

// watchAlert waits until the alert is active at its receiver and the receiver's integrations
// have been used, then records its state.
func (g *Gate) watchAlert(ctx context.Context, am prom.Alertmanager, attempt check.Attempt, posted time.Time, alert prom.Alert, receiver prom.Receiver, before prom.Notifications, rec check.Recorder) error {
	notYet := time.Duration(0) // when the previous poll began
	return g.poll(ctx, alertEvery, g.profile.AlertWithin.Duration(), func(last bool) (bool, error) {
		begun := g.deps.Clock.Since(posted)
		alerts, raw, alertErr := am.Alerts(ctx, runLabel, g.deps.RunID)
		counted := g.begin(rec, kindNotifications, targetAfter, "GET /metrics: alertmanager_notifications_total, _failed_total, alertmanager_notification_requests_total, _failed_total")
		after, rawCounters, countErr := am.Notifications(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		figures := alertFigures{Labels: alert.Labels, WaitedSeconds: g.deps.Clock.Since(posted).Seconds(), NotYetSeconds: notYet.Seconds(), Alerts: alerts}
		done := alertErr == nil && countErr == nil && (g.reached(alerts) && settled(receiver, before, after) || g.astray(alerts))
		if !done && !last {
			notYet = begun
			return false, nil
		}
		if err := attempt.Raw(raw).Record(figures, alertErr); err != nil {
			return false, err
		}
		return true, counted.Raw(rawCounters).Record(after, countErr)
	})
}

// reached reports whether the alert is active and routed to the receiver.
func (g *Gate) reached(alerts []prom.AlertState) bool {
	return slices.ContainsFunc(alerts, func(a prom.AlertState) bool {
		return a.State == "active" && slices.Contains(a.Receivers, g.telemetry.Receiver)
	})
}

// astray reports whether the alert is active and routed elsewhere, so that waiting is
// useless.
func (g *Gate) astray(alerts []prom.AlertState) bool {
	return slices.ContainsFunc(alerts, func(a prom.AlertState) bool {
		return a.State == "active" && len(a.Receivers) > 0 && !slices.Contains(a.Receivers, g.telemetry.Receiver)
	})
}

// settled reports whether every integration of the receiver has delivered or failed. A started
// notification is neither: Alertmanager retries for more than ten seconds. Counters of another
// Alertmanager are ignored.
func settled(r prom.Receiver, before, after prom.Notifications) bool {
	if before.Started != after.Started {
		return false
	}
	was, is := notified(r, before), notified(r, after)
	for kind, want := range kinds(r) {
		if is.Delivered[kind]-was.Delivered[kind] < want && is.Failed[kind] <= was.Failed[kind] {
			return false
		}
	}
	return len(r.Integrations) > 0
}

// kinds is the number of a receiver's integrations of each kind.
func kinds(r prom.Receiver) map[string]float64 {
	n := map[string]float64{}
	for _, kind := range r.Integrations {
		n[kind]++
	}
	return n
}

// notified are the receiver's notifications if Alertmanager counts by receiver, else all.
func notified(r prom.Receiver, n prom.Notifications) prom.Notifications {
	if n.ByReceiver == nil {
		return n
	}
	return n.ByReceiver[r.Name]
}

// sharing is another receiver with the same kind of integration if Alertmanager does not count
// by receiver: the counted notification may then be of either.
func sharing(r prom.Receiver, kind string, all []prom.Receiver, n prom.Notifications) string {
	if n.ByReceiver != nil {
		return ""
	}
	for _, other := range all {
		if other.Name != r.Name && slices.Contains(other.Integrations, kind) {
			return other.Name
		}
	}
	return ""
}
