package telemetry

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

const oneReplicaRemedy = "let reach.alertmanager lead to one Alertmanager (url of one, not a Service or a balancer of several): each keeps the alerts posted to it and counts for itself"

const alertmanagerRemedy = "make Alertmanager reachable as reach.alertmanager of the site file says (url with certificates, or service), then run the gate again"

// judgeAlert follows the synthetic alert: Prometheus to Alertmanager, to the
// route, to the receiver, to somebody who is told.
func (g *Gate) judgeAlert(b *check.Builder, obs []check.Observation) {
	if f, o, ok := check.RequireLast[alertmanagerFigures](b, obs, kindAlertmanagers, "", "Prometheus' Alertmanagers", prometheusRemedy); ok && len(f.Active) == 0 {
		b.Fail(o.ID, "Prometheus", "set alerting.alertmanagers in Prometheus' configuration", "has no active Alertmanager: its alerts go nowhere")
	}
	f, o, ok := check.RequireLast[receiverFigures](b, obs, kindReceivers, "", "Alertmanager", alertmanagerRemedy)
	if !ok {
		return
	}
	suspect := "receiver " + g.telemetry.Receiver
	receiver, there := g.receiver(f.Receivers)
	switch {
	case !there:
		b.Fail(o.ID, suspect, "add the receiver and a route to it, or name the right one in telemetry.receiver", "receiver %s is not in Alertmanager's configuration, which has: %s", g.telemetry.Receiver, receiverNames(f.Receivers))
		return
	case len(receiver.Integrations) == 0:
		b.Fail(o.ID, suspect, "give the receiver an integration (webhook, e-mail, pager)", "receiver %s has no integration: it tells nobody", g.telemetry.Receiver)
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

// judgeRoute wants the alert active at the receiver.
func (g *Gate) judgeRoute(b *check.Builder, obs []check.Observation, suspect string) bool {
	f, o, ok := check.RequireLast[alertFigures](b, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	if !ok {
		return false
	}
	if n := members(obs); n > 1 && len(f.Alerts) == 0 {
		b.Unobserved(o.ID, "Alertmanager", oneReplicaRemedy, "does not list the synthetic alert after %s; it is one of %g, and another may have taken it", f.Waited, n)
		return false
	}
	if len(f.Alerts) == 0 {
		b.Fail(o.ID, "Alertmanager", "look at Alertmanager's log; for several replicas, "+oneReplicaRemedy, "took the synthetic alert and does not list it after %s", f.Waited)
		return false
	}
	b.Figure(check.Figure{Name: "alert to receiver", Value: f.Waited.Seconds(), Unit: "s", Limit: g.profile.AlertWithin.Value, Relation: "<=", Source: "profile telemetry.alertWithin: " + g.profile.AlertWithin.Source})
	if g.reached(f.Alerts) {
		return true
	}
	a := f.Alerts[0]
	switch {
	case len(a.SilencedBy)+len(a.InhibitedBy) > 0:
		b.Fail(o.ID, suspect, "expire the silence, or narrow the inhibition rule that takes every alert", "the synthetic alert is %s (silences %v, inhibited by %v)", a.State, a.SilencedBy, a.InhibitedBy)
	case !slices.Contains(a.Receivers, g.telemetry.Receiver):
		b.Fail(o.ID, suspect, "add a route for severity=critical to the receiver", "no route leads to receiver %s: the synthetic alert went to %s", g.telemetry.Receiver, strings.Join(a.Receivers, ", "))
	default:
		b.Fail(o.ID, suspect, "look at Alertmanager's log", "the synthetic alert is %q after %s, not active", a.State, f.Waited)
	}
	return false
}

// judgeNotified requires that every integration of the receiver has delivered without failure.
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
			b.Fail(o.ID, suspect, "look at Alertmanager's log for why; check the integration's address and credentials", "integration %s of receiver %s failed %g times (alertmanager_notifications_failed_total)", kind, g.telemetry.Receiver, failed)
		case begun < 1 && after.Members > 1:
			b.Unobserved(o.ID, suspect, oneReplicaRemedy, "integration %s sent nothing from the Alertmanager that was read; it is one of %g, and another may have sent it", kind, after.Members)
		case begun < 1:
			b.Fail(o.ID, suspect, "see group_wait and group_interval of the route, and Alertmanager's log", "integration %s of receiver %s sent nothing in %g s, though the alert is active there", kind, g.telemetry.Receiver, g.profile.AlertWithin.Value)
		case !counted:
			b.Unobserved(o.ID, suspect, "use an Alertmanager that counts requests (0.31 does), then run the gate again", "Alertmanager does not count the requests of %s (alertmanager_notification_requests_total): whether one arrived is not known", kind)
		case delivered < want[kind]:
			b.Fail(o.ID, suspect, "look at Alertmanager's log for why; check the integration's address and credentials", "%g of %g integrations %s of receiver %s delivered the notification; Alertmanager still retries the rest", delivered, want[kind], kind, g.telemetry.Receiver)
		case other != "":
			b.Unobserved(o.ID, suspect, "start Alertmanager with --enable-feature=receiver-name-in-metrics, then run the gate again", "receiver %s has a %s too, and Alertmanager counts both together: whose notification was sent is not known", other, kind)
		}
	}
}

// countedBefore tells whether the requests were counted before the alert, where the notifications
// were: Alertmanager makes both counters of a kind at once, of some kinds with the first one.
func countedBefore(was prom.Notifications, kind string) bool {
	n, counted := was.Delivered[kind]
	_, begun := was.Total[kind]
	return n >= 0 && (counted || !begun)
}

// members is how many Alertmanagers the one that was read says that its cluster has.
func members(obs []check.Observation) float64 {
	most := 0.0
	for _, o := range check.OfKind(obs, kindNotifications) {
		if n, err := check.Decode[prom.Notifications](o); err == nil {
			most = max(most, n.Members)
		}
	}
	return most
}

// judgeLate wants the alert at its receiver in time.
func (g *Gate) judgeLate(b *check.Builder, obs []check.Observation, suspect string) {
	f, o, ok := check.RequireLast[alertFigures](b, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	if limit := seconds(g.profile.AlertWithin); ok && f.Waited > limit {
		b.Fail(o.ID, suspect, "see group_wait and group_interval of the route, and Alertmanager's log", "the synthetic alert took %s to its receiver, %s is the most", f.Waited, limit)
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
