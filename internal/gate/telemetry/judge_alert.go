package telemetry

import (
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

const oneReplicaRemedy = "set reach.alertmanager to one Alertmanager (the url of one, not of a Service or balancer): each replica has its own counters"

const busyRemedy = "run the gate again when this machine is less busy"

const alertmanagerRemedy = "make Alertmanager reachable as reach.alertmanager of the site file says (url with certificates, or service), then run the gate again"

// judgeAlert follows the synthetic alert from Prometheus to Alertmanager, the route, the
// receiver and its integrations.
func (g *Gate) judgeAlert(b *check.Builder, obs []check.Observation) {
	if f, o, ok := check.RequireLast[alertmanagerFigures](b, obs, kindAlertmanagers, "", "Prometheus' Alertmanagers", prometheusRemedy); ok && len(f.Active) == 0 {
		b.Fail(o.ID, "Prometheus", "set alerting.alertmanagers in Prometheus' configuration", "has no active Alertmanager: its alerts are not delivered")
	}
	f, o, ok := check.RequireLast[receiverFigures](b, obs, kindReceivers, "", "Alertmanager", alertmanagerRemedy)
	if !ok {
		return
	}
	suspect := "receiver " + g.telemetry.Receiver
	receiver, found := g.receiver(f.Receivers)
	switch {
	case !found:
		b.Fail(o.ID, suspect, "add the receiver and a route to it, or correct telemetry.receiver", "receiver %s is not in Alertmanager's configuration, which has: %s", g.telemetry.Receiver, receiverNames(f.Receivers))
		return
	case len(receiver.Integrations) == 0:
		b.Fail(o.ID, suspect, "give the receiver an integration (webhook, e-mail, pager)", "receiver %s has no integration: it notifies nothing", g.telemetry.Receiver)
		return
	}
	if g.judgeRoute(b, obs, suspect) {
		failures := b.Failures()
		g.judgeNotified(b, obs, receiver, f.Receivers, suspect)
		if b.Failures() == failures { // an alert that was not sent is not late
			g.judgeLate(b, obs, suspect)
		}
	}
}

// judgeRoute requires that the alert is active at the receiver.
func (g *Gate) judgeRoute(b *check.Builder, obs []check.Observation, suspect string) bool {
	f, o, ok := check.RequireLast[alertFigures](b, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	if !ok {
		return false
	}
	if f.waited() > g.alertLasts() {
		b.Unobserved(o.ID, suspect, busyRemedy, "the synthetic alert was read after %s, when it had ended", f.waited().Round(time.Second))
		return false
	}
	if n := members(obs); n > 1 && len(f.Alerts) == 0 {
		b.Unobserved(o.ID, "Alertmanager", oneReplicaRemedy, "does not list the synthetic alert after %s; the cluster has %g members, and another may have received it", f.waited(), n)
		return false
	}
	if len(f.Alerts) == 0 {
		b.Fail(o.ID, "Alertmanager", "read Alertmanager's log; for several replicas, "+oneReplicaRemedy, "accepted the synthetic alert and does not list it after %s", f.waited())
		return false
	}
	b.Figure(check.Figure{Name: "alert to receiver", Value: f.WaitedSeconds, Unit: "s", Limit: g.profile.AlertWithin.Value, Relation: "<=", Source: "profile telemetry.alertWithin: " + g.profile.AlertWithin.Source})
	if g.reached(f.Alerts) {
		return true
	}
	a := f.Alerts[0]
	switch {
	case len(a.SilencedBy)+len(a.InhibitedBy) > 0:
		b.Fail(o.ID, suspect, "expire the silence, or narrow the inhibition rule", "the synthetic alert is %s (silences %v, inhibited by %v)", a.State, a.SilencedBy, a.InhibitedBy)
	case !slices.Contains(a.Receivers, g.telemetry.Receiver):
		b.Fail(o.ID, suspect, "add a route for severity=critical to the receiver", "no route leads to receiver %s: the synthetic alert went to %s", g.telemetry.Receiver, strings.Join(a.Receivers, ", "))
	default:
		b.Fail(o.ID, suspect, "read Alertmanager's log", "the synthetic alert is %q after %s, not active", a.State, f.waited())
	}
	return false
}

// judgeNotified requires that every integration of the receiver delivered without failure.
func (g *Gate) judgeNotified(b *check.Builder, obs []check.Observation, receiver prom.Receiver, all []prom.Receiver, suspect string) {
	before, _, ok := check.RequireLast[prom.Notifications](b, obs, kindNotifications, targetBefore, "Alertmanager's counters", alertmanagerRemedy)
	if !ok {
		return
	}
	after, o, ok := check.RequireLast[prom.Notifications](b, obs, kindNotifications, targetAfter, "Alertmanager's counters", alertmanagerRemedy)
	if !ok {
		return
	}
	if before.Started != after.Started {
		b.Unobserved(o.ID, suspect, oneReplicaRemedy, "Alertmanager's counters before and after the alert are not of the same Alertmanager, or it was restarted: they cannot be compared")
		return
	}
	was, is := notified(receiver, before), notified(receiver, after)
	want := kinds(receiver)
	for _, kind := range sortedKeys(want) {
		begun, failed := is.Total[kind]-was.Total[kind], is.Failed[kind]-was.Failed[kind]
		delivered, counted := is.Delivered[kind]
		counted = counted && countedBefore(was, kind)
		delivered -= was.Delivered[kind]
		other := sharing(receiver, kind, all, after)
		switch {
		case failed > 0 && other == "":
			b.Fail(o.ID, suspect, "read Alertmanager's log; check the integration's address and credentials", "integration %s of receiver %s failed %g times (alertmanager_notifications_failed_total)", kind, g.telemetry.Receiver, failed)
		case begun < 1 && after.Members > 1:
			b.Unobserved(o.ID, suspect, oneReplicaRemedy, "integration %s sent nothing from the observed Alertmanager; the cluster has %g members, and another may have sent it", kind, after.Members)
		case begun < 1:
			b.Fail(o.ID, suspect, "check group_wait and group_interval of the route, and Alertmanager's log", "integration %s of receiver %s sent nothing in %g s, although the alert is active there", kind, g.telemetry.Receiver, g.profile.AlertWithin.Value)
		case !counted:
			b.Unobserved(o.ID, suspect, "use an Alertmanager that counts requests (0.31 does), then run the gate again", "Alertmanager does not count the requests of %s (alertmanager_notification_requests_total): whether one arrived is unknown", kind)
		case delivered < want[kind]:
			b.Fail(o.ID, suspect, "read Alertmanager's log; check the integration's address and credentials", "%g of %g integrations %s of receiver %s delivered the notification; Alertmanager still retries the rest", delivered, want[kind], kind, g.telemetry.Receiver)
		case other != "":
			b.Unobserved(o.ID, suspect, "start Alertmanager with --enable-feature=receiver-name-in-metrics, then run the gate again", "receiver %s has a %s too, and Alertmanager counts both together: whose notification was sent is unknown", other, kind)
		}
	}
}

// countedBefore reports whether the requests were counted before the alert, like the
// notifications: Alertmanager creates both counters of a kind together, for some kinds with the
// first notification.
func countedBefore(was prom.Notifications, kind string) bool {
	n, counted := was.Delivered[kind]
	_, begun := was.Total[kind]
	return n >= 0 && (counted || !begun)
}

// members is the cluster size that the observed Alertmanager reports.
func members(obs []check.Observation) float64 {
	most := 0.0
	for _, o := range check.OfKind(obs, kindNotifications) {
		if n, err := check.Decode[prom.Notifications](o); err == nil {
			most = max(most, n.Members)
		}
	}
	return most
}

// judgeLate requires that the alert reached its receiver in time. An alert that was found
// there late by a process that did not poll in time is unobserved.
func (g *Gate) judgeLate(b *check.Builder, obs []check.Observation, suspect string) {
	f, o, _ := check.RequireLast[alertFigures](b, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	limit := g.profile.AlertWithin.Duration()
	switch {
	case f.waited() <= limit: // or not observed, which is reported
	case f.notYet() <= limit:
		b.Unobserved(o.ID, suspect, busyRemedy, "the synthetic alert reached its receiver between %s and %s after it was sent: whether within %s is unknown", f.notYet().Round(time.Millisecond), f.waited().Round(time.Millisecond), limit)
	default:
		b.Fail(o.ID, suspect, "check group_wait and group_interval of the route, and Alertmanager's log", "the synthetic alert reached its receiver after %s, the maximum is %s", f.waited(), limit)
	}
}

func receiverNames(list []prom.Receiver) string {
	names := make([]string, 0, len(list))
	for _, r := range list {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
