package telemetry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

const oneReplicaRemedy = "let reach.alertmanager lead to one Alertmanager (url of one, not a Service or a balancer of several): each keeps the alerts posted to it and counts for itself"

const alertmanagerRemedy = "make Alertmanager reachable as reach.alertmanager of the site file says (url with certificates, or service), then run the gate again"

// judgeAlert follows the synthetic alert: Prometheus to Alertmanager, to the
// route, to the receiver, to somebody who is told.
func (g *Gate) judgeAlert(c *conclusions, obs []check.Observation) {
	if o, f, ok := last[alertmanagerFigures](c, obs, kindAlertmanagers, "", "Prometheus' Alertmanagers", prometheusRemedy); ok && len(f.Active) == 0 {
		c.fail(o, "Prometheus", "has no active Alertmanager: its alerts go nowhere", "set alerting.alertmanagers in Prometheus' configuration")
	}
	o, f, ok := last[receiverFigures](c, obs, kindReceivers, "", "Alertmanager", alertmanagerRemedy)
	if !ok {
		return
	}
	suspect := "receiver " + g.telemetry.Receiver
	receiver, there := g.receiver(f.Receivers)
	switch {
	case !there:
		c.fail(o, suspect, fmt.Sprintf("receiver %s is not in Alertmanager's configuration, which has: %s", g.telemetry.Receiver, receiverNames(f.Receivers)),
			"add the receiver and a route to it, or name the right one in telemetry.receiver")
		return
	case len(receiver.Integrations) == 0:
		c.fail(o, suspect, fmt.Sprintf("receiver %s has no integration: it tells nobody", g.telemetry.Receiver), "give the receiver an integration (webhook, e-mail, pager)")
		return
	}
	if g.judgeRoute(c, obs, suspect) {
		wrong := len(c.wrong)
		g.judgeNotified(c, obs, receiver, f.Receivers, suspect)
		if len(c.wrong) == wrong { // what was never sent was not late
			g.judgeLate(c, obs, suspect)
		}
	}
}

// judgeRoute wants the alert active at the receiver.
func (g *Gate) judgeRoute(c *conclusions, obs []check.Observation, suspect string) bool {
	o, f, ok := last[alertFigures](c, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	if !ok {
		return false
	}
	if n := members(obs); n > 1 && len(f.Alerts) == 0 {
		c.missing(o, "Alertmanager", fmt.Sprintf("does not list the synthetic alert after %s; it is one of %g, and another may have taken it", f.Waited, n), oneReplicaRemedy)
		return false
	}
	if len(f.Alerts) == 0 {
		c.fail(o, "Alertmanager", fmt.Sprintf("took the synthetic alert and does not list it after %s", f.Waited), "look at Alertmanager's log; for several replicas, "+oneReplicaRemedy)
		return false
	}
	c.figures = append(c.figures, check.Figure{Name: "alert to receiver", Value: f.Waited.Seconds(), Unit: "s", Limit: g.profile.AlertWithin.Value, Relation: "<=", Source: "profile telemetry.alertWithin: " + g.profile.AlertWithin.Source})
	if g.reached(f.Alerts) {
		return true
	}
	a := f.Alerts[0]
	switch {
	case len(a.SilencedBy)+len(a.InhibitedBy) > 0:
		c.fail(o, suspect, fmt.Sprintf("the synthetic alert is %s (silences %v, inhibited by %v)", a.State, a.SilencedBy, a.InhibitedBy), "expire the silence, or narrow the inhibition rule that takes every alert")
	case !slices.Contains(a.Receivers, g.telemetry.Receiver):
		c.fail(o, suspect, fmt.Sprintf("no route leads to receiver %s: the synthetic alert went to %s", g.telemetry.Receiver, strings.Join(a.Receivers, ", ")),
			"add a route for severity=critical to the receiver")
	default:
		c.fail(o, suspect, fmt.Sprintf("the synthetic alert is %q after %s, not active", a.State, f.Waited), "look at Alertmanager's log")
	}
	return false
}

// judgeNotified requires that every integration of the receiver has delivered without failure.
func (g *Gate) judgeNotified(c *conclusions, obs []check.Observation, receiver prom.Receiver, all []prom.Receiver, suspect string) {
	_, before, ok := last[prom.Notifications](c, obs, kindNotifications, targetBefore, "Alertmanager's counters", alertmanagerRemedy)
	if !ok {
		return
	}
	o, after, ok := last[prom.Notifications](c, obs, kindNotifications, targetAfter, "Alertmanager's counters", alertmanagerRemedy)
	if !ok {
		return
	}
	if before.Started != after.Started {
		c.missing(o, suspect, "Alertmanager's counters before and after the alert are not of the same Alertmanager, or it was restarted: they cannot be compared", oneReplicaRemedy)
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
			c.fail(o, suspect, fmt.Sprintf("integration %s of receiver %s failed %g times (alertmanager_notifications_failed_total)", kind, g.telemetry.Receiver, failed),
				"look at Alertmanager's log for why; check the integration's address and credentials")
		case begun < 1 && after.Members > 1:
			c.missing(o, suspect, fmt.Sprintf("integration %s sent nothing from the Alertmanager that was read; it is one of %g, and another may have sent it", kind, after.Members), oneReplicaRemedy)
		case begun < 1:
			c.fail(o, suspect, fmt.Sprintf("integration %s of receiver %s sent nothing in %g s, though the alert is active there", kind, g.telemetry.Receiver, g.profile.AlertWithin.Value),
				"see group_wait and group_interval of the route, and Alertmanager's log")
		case !counted:
			c.missing(o, suspect, fmt.Sprintf("Alertmanager does not count the requests of %s (alertmanager_notification_requests_total): whether one arrived is not known", kind),
				"use an Alertmanager that counts requests (0.31 does), then run the gate again")
		case delivered < want[kind]:
			c.fail(o, suspect, fmt.Sprintf("%g of %g integrations %s of receiver %s delivered the notification; Alertmanager still retries the rest", delivered, want[kind], kind, g.telemetry.Receiver),
				"look at Alertmanager's log for why; check the integration's address and credentials")
		case other != "":
			c.missing(o, suspect, fmt.Sprintf("receiver %s has a %s too, and Alertmanager counts both together: whose notification was sent is not known", other, kind),
				"start Alertmanager with --enable-feature=receiver-name-in-metrics, then run the gate again")
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
func (g *Gate) judgeLate(c *conclusions, obs []check.Observation, suspect string) {
	o, f, ok := last[alertFigures](c, obs, kindAlert, "", "the synthetic alert", alertmanagerRemedy)
	if limit := seconds(g.profile.AlertWithin); ok && f.Waited > limit {
		c.fail(o, suspect, fmt.Sprintf("the synthetic alert took %s to its receiver, %s is the most", f.Waited, limit),
			"see group_wait and group_interval of the route, and Alertmanager's log")
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
