package telemetry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// endpoints are those of all Alertmanagers, the first that of reach.alertmanager.
func (g *Gate) endpoints() []site.Endpoint {
	return append([]site.Endpoint{g.reach.Alertmanager}, g.reach.AlertmanagerReplicas...)
}

// replicaTarget is the target of an observation of Alertmanager i.
func replicaTarget(target string, i int) string {
	if i == 0 {
		return target
	}
	return fmt.Sprintf("%s-%d", target, i+1)
}

// way is where the alert goes.
type way struct {
	ams []prom.Alertmanager
	to  prom.Receiver
	// groupInterval of its route, the longest of all Alertmanagers.
	groupInterval time.Duration
}

// observeReceivers connects to every Alertmanager and records its receivers. ready is false if no
// alert may be raised or it could not arrive, which is recorded. The caller closes the clients.
func (g *Gate) observeReceivers(ctx context.Context, cluster *kube.Cluster, p prom.Prometheus, rec check.Recorder) (w way, ready bool, err error) {
	external := g.ExternalLabels(ctx, p)
	for i, e := range g.endpoints() {
		client, unreachable := prom.Connect(e, cluster)
		if unreachable != nil {
			return w, false, g.begin(rec, kindReceivers, replicaTarget(targetAlertmanager, i), "connect to Alertmanager").Record(nil, unreachable)
		}
		am := prom.Alertmanager{Client: client}
		w.ams = append(w.ams, am)
		attempt := g.begin(rec, kindReceivers, replicaTarget(targetAlertmanager, i), "GET /api/v2/status of "+am.Name()+": receivers with their integrations, routes, inhibition rules")
		routing, readErr := am.Routing(ctx)
		figures := receiverFigures{Receivers: routing.Receivers, AlertEffect: g.EffectOfAlert(routing, external)}
		// The raw answer is not stored: Alertmanager's configuration may contain secrets.
		if err := attempt.Record(figures, readErr); err != nil {
			return w, false, err
		}
		found, ok := g.receiver(routing.Receivers)
		if readErr != nil || !ok || len(found.Integrations) == 0 || len(figures.Objections(g.telemetry.Receiver)) > 0 {
			return w, false, nil //nolint:nilerr // recorded
		}
		w.to, w.groupInterval = found, max(w.groupInterval, routing.Route.GroupInterval(g.alert().Labels))
	}
	return w, true, nil
}

func closeAll(ams []prom.Alertmanager) {
	for _, am := range ams {
		am.Close()
	}
}

// tally are the counters of every Alertmanager.
type tally struct {
	each []prom.Notifications
	raw  [][]byte
	errs []error
}

func tallyOf(ctx context.Context, ams []prom.Alertmanager) tally {
	var c tally
	for _, am := range ams {
		n, raw, err := am.Notifications(ctx)
		c.each, c.raw, c.errs = append(c.each, n), append(c.raw, raw), append(c.errs, err)
	}
	return c
}

// ok reports whether all were read.
func (c tally) ok() bool {
	return !slices.ContainsFunc(c.errs, func(err error) bool { return err != nil })
}

const countersCommand = "GET /metrics: alertmanager_notifications_total, _failed_total, alertmanager_notification_requests_total, _failed_total"

// record records the counters of each Alertmanager.
func (c tally) record(g *Gate, rec check.Recorder, target string) error {
	for i := range c.each {
		attempt := g.begin(rec, kindNotifications, replicaTarget(target, i), countersCommand)
		if err := attempt.Raw(c.raw[i]).Record(c.each[i], c.errs[i]); err != nil {
			return err
		}
	}
	return nil
}
