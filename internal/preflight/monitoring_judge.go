package preflight

import (
	"errors"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/gate/telemetry"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyPrometheus   = "make Prometheus reachable as reach.prometheus of the site file says (url with certificates, or service)"
	remedyAlertmanager = "make Alertmanager reachable as reach.alertmanager of the site file says (url with certificates, or service)"
)

func judgeSeries(f seriesFacts, want site.Telemetry) []Line {
	const what = "Prometheus"
	for _, err := range []error{f.connectErr, f.readyErr} {
		if err != nil {
			return []Line{stop(what, f.address, remedyPrometheus, "%v", err)}
		}
	}
	if f.readErr != nil {
		return []Line{unobserved(what, f.address, remedyPrometheus, "cannot read %s: %v", telemetry.Metric, f.readErr)}
	}
	out := []Line{ok(what, f.address, "ready")}
	for _, d := range f.defects {
		out = append(out, stop("GPU series", d.Suspect, d.Remedy, "%s", d.Message))
	}
	if len(f.defects) == 0 {
		out = append(out, ok("GPU series", f.address, "%s of every GPU, with its labels, fresh", telemetry.Metric))
	}
	if n := len(f.intervals); n > 0 {
		if longest := f.intervals[n-1]; longest > want.ScrapeInterval.D() {
			out = append(out, stop("scrape interval", f.address, "correct telemetry.scrapeInterval of the site file, or scrape dcgm-exporter as often as it says", "dcgm-exporter is scraped every %s, the site says %s", longest, want.ScrapeInterval.D()))
		} else {
			out = append(out, ok("scrape interval", f.address, "dcgm-exporter is scraped every %s", longest))
		}
	}
	switch {
	case errors.Is(f.alertErr, prom.ErrNotServed) && want.Alert.Through != site.ThroughAlertmanager:
		out = append(out, ok("alerting", f.address, "does not list its Alertmanagers: gate telemetry tests that an alert of a rule arrives"))
	case f.alertErr != nil:
		out = append(out, unobserved("alerting", f.address, remedyPrometheus, "%v", f.alertErr))
	case len(f.alertmanagers) == 0:
		out = append(out, stop("alerting", f.address, "set alerting.alertmanagers in Prometheus' configuration", "Prometheus has no active Alertmanager"))
	case f.unnamed:
		out = append(out, stop("alerting", f.address, "name every Alertmanager of Prometheus, in reach.alertmanager and reach.alertmanagerReplicas: the alert of a rule goes to each",
			"Prometheus sends alerts to more Alertmanagers than the site names: %s", strings.Join(f.alertmanagers, ", ")))
	default:
		out = append(out, ok("alerting", f.address, "Prometheus sends alerts to %s", strings.Join(f.alertmanagers, ", ")))
	}
	return out
}

func judgeAlerts(f alertFacts, receiver string) []Line {
	const what, remedyRoute = "alert receiver", "add the receiver and a route to it, or correct telemetry.receiver"
	if f.err != nil {
		return []Line{stop("Alertmanager", f.address, remedyAlertmanager, "%v", f.err)}
	}
	out := []Line{ok("Alertmanager", f.address, "reachable")}
	i := slices.IndexFunc(f.receivers, func(r prom.Receiver) bool { return r.Name == receiver })
	switch {
	case i < 0:
		return append(out, stop(what, receiver, remedyRoute, "is not in Alertmanager's configuration"))
	case len(f.receivers[i].Integrations) == 0:
		return append(out, stop(what, receiver, "give the receiver an integration (webhook, e-mail, pager)", "has no integration: it notifies nothing"))
	}
	objections := f.effect.Objections(receiver)
	for _, o := range objections {
		out = append(out, stop(what, receiver, o.Remedy, "%s", o.Message))
	}
	if len(objections) == 0 {
		out = append(out, ok(what, receiver, "the synthetic alert is routed to it alone: %s", strings.Join(f.receivers[i].Integrations, ", ")))
	}
	return out
}
