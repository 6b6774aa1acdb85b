package telemetry

import (
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

const replicasRemedy = "set reach.alertmanager and reach.alertmanagerReplicas to every Alertmanager of the cluster (the url of each, not of a Service or balancer): each replica has its own counters. In Kubernetes, make a Service for each pod (selector statefulset.kubernetes.io/pod-name) and name it as service"

const countersRemedy = "let reach.alertmanager serve Alertmanager's own /metrics (site url with credentials, or service). Mimir, managed Prometheus services and Grafana have none for a tenant: " +
	"whether their Alertmanager notifies cannot be observed, and no alert is raised"

const ruleRemedy = "compare the labels of the PrometheusRule (telemetry.alert.ruleLabels) with ruleSelector and ruleNamespaceSelector of the Prometheus object, and read prometheus-operator's log; without an operator set telemetry.alert.through: alertmanager, which passes as lowered"

const busyRemedy = "run the gate again when this machine is less busy"

const alertmanagerRemedy = "make Alertmanager reachable as reach.alertmanager of the site file says (url with certificates, or service), then run the gate again"

// judgeAlert follows the synthetic alert from its rule to Alertmanager, the route, the receiver and
// its integrations.
func (g *Gate) judgeAlert(b *check.Builder, obs []check.Observation) {
	raisable := g.judgeAlertmanagers(b, obs)
	suspect := "receiver " + g.telemetry.Receiver
	receiver, all, ok := g.judgeReceivers(b, obs, suspect)
	if !ok || !raisable || !g.judgeMembers(b, obs) || !g.judgeCounters(b, obs) {
		return
	}
	f, o, ok := check.RequireLast[alertFigures](b, obs, kindAlert, "", "the synthetic alert", g.alertRemedy())
	if !ok || !g.judgeRoute(b, obs, f, o, suspect) {
		return
	}
	failures := b.Failures()
	g.judgeNotified(b, obs, f, receiver, all, suspect)
	if b.Failures() == failures { // an alert that was not sent is not late
		g.judgeLate(b, f, o, suspect)
	}
	g.judgeEnd(b, obs)
}

// judgeAlertmanagers requires that Prometheus sends its alerts to an Alertmanager. Endpoints in front of Mimir or Thanos
// and managed services do not list theirs: there, the alert of the rule shows it. It reports whether the alert of a rule
// may be raised: consent is for the Alertmanagers that the site names.
func (g *Gate) judgeAlertmanagers(b *check.Builder, obs []check.Observation) (raisable bool) {
	switch f, o, ok := check.RequireLast[alertmanagerFigures](b, obs, kindAlertmanagers, "", "Prometheus' Alertmanagers", prometheusRemedy); {
	case !ok:
		return !g.byRule()
	case g.unnamed(f):
		b.Unobserved(o.ID, "Prometheus", replicasRemedy, "sends the alert of a rule to %d Alertmanagers (%s), and the site names %d: without the receivers of the others no alert is raised",
			len(f.addresses()), strings.Join(f.addresses(), ", "), len(g.endpoints()))
		return false
	case f.NotServed && g.byRule():
	case f.NotServed:
		b.Unobserved(o.ID, "Prometheus",
			"set telemetry.alert.through: rule: an alert that arrives by a rule shows it; or set reach.prometheus to the Prometheus that evaluates rules",
			"does not serve /api/v1/alertmanagers: whether its alerts are sent is unknown")
	case len(f.Active) == 0:
		b.Fail(o.ID, "Prometheus", "set alerting.alertmanagers in Prometheus' configuration", "has no active Alertmanager: its alerts are not delivered")
	}
	return true
}

// judgeMembers requires that the site names every member of Alertmanager's cluster: Prometheus sends the alert of a rule
// to each.
func (g *Gate) judgeMembers(b *check.Builder, obs []check.Observation) bool {
	n := members(obs)
	if !g.unnamedMembers(n) {
		return true
	}
	b.Unobserved("", "Alertmanager", replicasRemedy, "its cluster has %g members, and the site names %d: without the receivers of the others no alert is raised", n, len(g.endpoints()))
	return false
}

// judgeCounters requires the counters before the alert: the gate raises no alert without them.
func (g *Gate) judgeCounters(b *check.Builder, obs []check.Observation) bool {
	if len(check.OfKind(obs, kindAlert)) > 0 || len(check.OfKind(obs, kindNotifications)) == 0 {
		return true
	}
	for i := range g.endpoints() {
		was, o, ok := check.RequireLast[prom.Notifications](b, obs, kindNotifications, replicaTarget(targetBefore, i), "Alertmanager's counters", countersRemedy)
		if !ok {
			return false
		}
		if len(was.Total) == 0 {
			b.Unobserved(o.ID, "Alertmanager's counters", countersRemedy, "alertmanager_notifications_total has no series: whether a notification is sent cannot be observed")
			return false
		}
	}
	return true
}

// alertReason is the part of the reason of a pass.
func (g *Gate) alertReason() string {
	what := "an alert"
	if g.byRule() {
		what = "the alert of a rule"
	}
	return what + " reached " + g.telemetry.Receiver
}

// alertRemedy is for an alert that could not be raised or read.
func (g *Gate) alertRemedy() string {
	if g.byRule() {
		return ruleRemedy + "; " + alertmanagerRemedy
	}
	return alertmanagerRemedy
}

// judgeReceivers requires the receiver in every Alertmanager. It returns the receivers, which all must have.
func (g *Gate) judgeReceivers(b *check.Builder, obs []check.Observation, suspect string) (receiver prom.Receiver, all []prom.Receiver, ok bool) {
	for i := range g.endpoints() {
		f, o, ok := check.RequireLast[receiverFigures](b, receiversOf(obs, i), kindReceivers, "", "Alertmanager", alertmanagerRemedy)
		if !ok {
			return receiver, nil, false
		}
		var found bool
		receiver, found = g.receiver(f.Receivers)
		if i > 0 && !slices.EqualFunc(all, f.Receivers, sameReceiver) {
			b.Unobserved(o.ID, suspect, "give all Alertmanagers of the cluster the same configuration", "the Alertmanagers have different receivers or integrations: which notifications to expect is unknown")
			return receiver, nil, false
		}
		all = f.Receivers
		switch {
		case !found:
			b.Fail(o.ID, suspect, "add the receiver and a route to it, or correct telemetry.receiver", "receiver %s is not in Alertmanager's configuration, which has: %s", g.telemetry.Receiver, receiverNames(f.Receivers))
			return receiver, nil, false
		case len(receiver.Integrations) == 0:
			b.Fail(o.ID, suspect, "give the receiver an integration (webhook, e-mail, pager)", "receiver %s has no integration: it notifies nothing", g.telemetry.Receiver)
			return receiver, nil, false
		}
		for _, objection := range f.Objections(g.telemetry.Receiver) {
			b.Unobserved(o.ID, objection.Suspect, objection.Remedy, "%s", objection.Message)
		}
		if len(f.Objections(g.telemetry.Receiver)) > 0 {
			return receiver, nil, false
		}
	}
	return receiver, all, true
}

func sameReceiver(a, b prom.Receiver) bool {
	return a.Name == b.Name && slices.Equal(a.Integrations, b.Integrations)
}

// receiversOf are the observations of the receivers of Alertmanager i.
func receiversOf(obs []check.Observation, i int) []check.Observation {
	return slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool {
		return o.Kind == kindReceivers && o.Target != replicaTarget(targetAlertmanager, i)
	})
}

// judgeRoute requires that the alert fires and is routed to the receiver at every Alertmanager.
func (g *Gate) judgeRoute(b *check.Builder, obs []check.Observation, f alertFigures, o check.Observation, suspect string) bool {
	switch n := members(obs); {
	case f.Through != g.telemetry.Alert.Through:
		b.Unobserved(o.ID, suspect, "run the gate again", "the synthetic alert was raised through %q, the site requires %q", f.Through, g.telemetry.Alert.Through)
		return false
	case f.waited() > g.alertLasts():
		b.Unobserved(o.ID, suspect, busyRemedy, "the synthetic alert was read after %s, when it had ended", f.waited().Round(time.Second))
		return false
	case !g.judgeRule(b, f, o):
		return false
	case int(n) > len(g.endpoints()) && len(f.Alerts) == 0:
		b.Unobserved(o.ID, "Alertmanager", replicasRemedy, "does not list the synthetic alert after %s; the cluster has %g members, and another may have received it", f.waited(), n)
		return false
	case len(f.Alerts) == 0 && g.byRule():
		b.Fail(o.ID, "Alertmanager", "check alerting (relabelling too) in Prometheus' configuration and Alertmanager's log", "does not list the synthetic alert, which Prometheus fires, after %s", f.waited())
		return false
	case len(f.Alerts) == 0:
		b.Fail(o.ID, "Alertmanager", "read Alertmanager's log", "accepted the synthetic alert and does not list it after %s", f.waited())
		return false
	case len(f.NotListedBy) > 0:
		b.Fail(o.ID, "Alertmanager "+f.NotListedBy[0], "list every Alertmanager in alerting.alertmanagers of Prometheus' configuration", "does not list the synthetic alert after %s, and another one does", f.waited())
		return false
	}
	b.Figure(check.Figure{Name: "alert to receiver", Value: (f.waited() - f.notFired()).Seconds(), Unit: "s", Limit: g.profile.AlertWithin.Value, Relation: "<=", Source: "profile telemetry.alertWithin: " + g.profile.AlertWithin.Source})
	if g.reached(f) {
		return true
	}
	a := f.Alerts[0]
	if i := slices.IndexFunc(f.Alerts, func(a prom.AlertState) bool { return a.State != "active" || !g.routed(a) }); i >= 0 {
		a = f.Alerts[i]
	}
	lost := lostLabels(f.Labels, a.Labels)
	switch {
	case len(a.SilencedBy)+len(a.InhibitedBy) > 0:
		b.Fail(o.ID, suspect, "expire the silence, or narrow the inhibition rule", "the synthetic alert is %s (silences %v, inhibited by %v)", a.State, a.SilencedBy, a.InhibitedBy)
	case len(a.MutedBy) > 0:
		b.Fail(o.ID, suspect, "run the gate outside the time intervals that mute the route (mute_time_intervals, active_time_intervals), or let the labels of telemetry.alert.labels select a route without them", "the synthetic alert is %s: its route is muted by the time intervals %v", a.State, a.MutedBy)
	case !slices.Contains(a.Receivers, g.telemetry.Receiver) && lost != "":
		b.Fail(o.ID, "Prometheus",
			"check alert_relabel_configs in Prometheus' configuration (alertRelabelConfigs of the Prometheus object)",
			"sends the alert of the rule without its %s: no route leads to receiver %s, it went to %s",
			lost, g.telemetry.Receiver, strings.Join(a.Receivers, ", "))
	case !slices.Contains(a.Receivers, g.telemetry.Receiver):
		b.Fail(o.ID, suspect, "add a route for "+labelText(g.telemetry.Alert.Labels)+" to the receiver, or correct telemetry.alert.labels", "no route leads to receiver %s: the synthetic alert went to %s", g.telemetry.Receiver, strings.Join(a.Receivers, ", "))
	case len(g.strangers(a)) > 0:
		b.Fail(o.ID, suspect, "set the labels that Prometheus or a ruler adds to alerts (external_labels) in telemetry.alert.labels too, and "+
			"add a route that leads an alert with them to "+g.telemetry.Receiver+" alone (without continue)",
			"the synthetic alert went to %s too, and only %s may be notified: it was ended at once", strings.Join(g.strangers(a), ", "), g.telemetry.Receiver)
	default:
		b.Fail(o.ID, suspect, "read Alertmanager's log", "the synthetic alert is %q after %s", a.State, f.waited())
	}
	return false
}

// judgeRule requires that Prometheus fires the alert of the rule in time.
func (g *Gate) judgeRule(b *check.Builder, f alertFigures, o check.Observation) bool {
	if !g.byRule() {
		return true
	}
	limit := g.telemetry.Alert.RuleWithin.D()
	switch {
	case f.FiredSeconds == nil && f.waited() < limit:
		b.Unobserved(o.ID, "PrometheusRule", "run the gate again", "whether Prometheus fires its alert was observed for only %s of %s", f.waited().Round(time.Millisecond), limit)
	case f.FiredSeconds == nil && f.FiringErr != "":
		b.Unobserved(o.ID, "Prometheus", prometheusRemedy, "whether it fires the alert of the run's rule is unknown: %s", f.FiringErr)
	case f.FiredSeconds == nil:
		b.Fail(o.ID, "PrometheusRule", ruleRemedy, "Prometheus does not fire the alert of the run's rule %s after it was created", f.waited().Round(time.Second))
	case f.fired() > limit:
		b.Unobserved(o.ID, "PrometheusRule", busyRemedy, "its alert was found firing after %s, and must fire within %s: it was not read in time", f.fired().Round(time.Millisecond), limit)
	default:
		b.Figure(check.Figure{Name: "rule to alert", Value: f.fired().Seconds(), Unit: "s", Limit: limit.Seconds(), Relation: "<=", Source: "site telemetry.alert.ruleWithin"})
		return true
	}
	return false
}

// judgeNotified requires that every integration of the receiver delivered without failure, and that
// no other alert notified the receiver meanwhile: the counters are not by alert.
func (g *Gate) judgeNotified(b *check.Builder, obs []check.Observation, f alertFigures, receiver prom.Receiver, all []prom.Receiver, suspect string) {
	var before, after []prom.Notifications
	var o check.Observation
	for i := range g.endpoints() {
		was, _, ok := check.RequireLast[prom.Notifications](b, obs, kindNotifications, replicaTarget(targetBefore, i), "Alertmanager's counters", alertmanagerRemedy)
		if !ok {
			return
		}
		is, last, ok := check.RequireLast[prom.Notifications](b, obs, kindNotifications, replicaTarget(targetAfter, i), "Alertmanager's counters", alertmanagerRemedy)
		if !ok {
			return
		}
		before, after, o = append(before, was), append(after, is), last
	}
	if !sameProcesses(before, after) {
		b.Unobserved(o.ID, suspect, replicasRemedy, "Alertmanager's counters before and after the alert are not of the same Alertmanager, it was restarted, two addresses lead to one, or its start is not known: they cannot be compared")
		return
	}
	n := members(obs)
	was, is := added(receiver, before), added(receiver, after)
	want := kinds(receiver)
	for _, kind := range sortedKeys(want) {
		begun, failed := is.Total[kind]-was.Total[kind], is.Failed[kind]-was.Failed[kind]
		delivered, counted := is.Delivered[kind]
		counted = counted && countedBefore(was, kind) && was.Delivered[kind] >= 0 // failed requests are a part of all
		delivered -= was.Delivered[kind]
		other := sharing(receiver, kind, all, after)
		switch {
		case failed > 0 && other == "":
			b.Fail(o.ID, suspect, "read Alertmanager's log; check the integration's address and credentials", "integration %s of receiver %s failed %g times (alertmanager_notifications_failed_total)", kind, g.telemetry.Receiver, failed)
		case begun < 1 && int(n) > len(after):
			b.Unobserved(o.ID, suspect, replicasRemedy, "integration %s sent nothing from the observed Alertmanagers; the cluster has %g members, and another may have sent it", kind, n)
		case begun < 1:
			b.Fail(o.ID, suspect, "check group_wait and group_interval of the route, and Alertmanager's log", "integration %s of receiver %s sent nothing in %g s, although the alert is active there", kind, g.telemetry.Receiver, g.profile.AlertWithin.Value)
		case !counted:
			b.Unobserved(o.ID, suspect, "use an Alertmanager that counts requests (0.31 does), then run the gate again", "Alertmanager does not count the requests of %s (alertmanager_notification_requests_total): whether one arrived is unknown", kind)
		case delivered < want[kind]:
			b.Fail(o.ID, suspect,
				"read Alertmanager's log; check the integration's address and credentials",
				"%g of %g integrations %s of receiver %s delivered the notification; Alertmanager still retries the rest",
				delivered, want[kind], kind, g.telemetry.Receiver)
		case other != "":
			b.Unobserved(o.ID, suspect, "start Alertmanager with --enable-feature=receiver-name-in-metrics, then run the gate again", "receiver %s has a %s too, and Alertmanager counts both together: whose notification was sent is unknown", other, kind)
		}
	}
	if len(f.Others) > 0 {
		b.Unobserved(o.ID, suspect, "resolve or silence the other alerts of the receiver, then run the gate again", "it also has the alerts %s, and Alertmanager does not count by alert: whose notification was sent is unknown", strings.Join(f.Others, ", "))
	}
}

// countedBefore reports whether the requests were counted before the alert, like the
// notifications: Alertmanager creates both counters of a kind together, for some kinds with the
// first notification.
func countedBefore(was prom.Notifications, kind string) bool {
	_, counted := was.Delivered[kind]
	_, begun := was.Total[kind]
	return counted || !begun
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
func (g *Gate) judgeLate(b *check.Builder, f alertFigures, o check.Observation, suspect string) {
	limit := g.profile.AlertWithin.Duration()
	took, notYet := f.waited()-f.notFired(), f.notYet()-f.fired() // at most, at least
	switch {
	case took <= limit: // or not observed, which is reported
	case notYet <= limit:
		b.Unobserved(o.ID, suspect, busyRemedy, "the synthetic alert reached its receiver between %s and %s after it was sent: whether within %s is unknown", max(0, notYet).Round(time.Millisecond), took.Round(time.Millisecond), limit)
	default:
		b.Fail(o.ID, suspect, "check group_wait and group_interval of the route, and Alertmanager's log", "the synthetic alert reached its receiver after %s, the maximum is %s", took, limit)
	}
}

// lostLabels are the labels of the rule's alert that Alertmanager's alert lacks or has with another
// value.
func lostLabels(want, got map[string]string) string {
	lost := map[string]string{}
	for name, value := range want {
		if got[name] != value {
			lost[name] = value
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return "label " + labelText(lost)
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
