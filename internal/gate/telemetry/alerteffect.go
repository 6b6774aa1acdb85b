package telemetry

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// AlertEffect is the effect of the synthetic alert on one Alertmanager. The gate raises the alert only
// without objections: consent is for one receiver.
type AlertEffect struct {
	// Consent: the receiver may be notified, by --page or since it pages no person.
	Consent bool `json:"consent"`
	// Reached are the receivers that the alert is routed to by the configuration.
	Reached []string `json:"reached"`
	// Inhibits are the source matchers of the inhibition rules by which it could mute other alerts.
	Inhibits []string `json:"inhibits,omitempty"`
}

// EffectOfAlert is the effect of the synthetic alert by the routes and inhibition rules of an Alertmanager. external are
// the labels that Prometheus adds to alerts that lack them.
func (g *Gate) EffectOfAlert(r prom.Routing, external map[string]string) AlertEffect {
	labels := maps.Clone(external)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, g.alert().Labels)
	return AlertEffect{
		Consent: g.deps.Page || g.telemetry.Alert.PagesNobody, Reached: r.Route.Receivers(labels),
		Inhibits: r.Inhibits.By(labels, "alertname", runLabel, attemptLabel),
	}
}

// Objections are the reasons not to raise the alert for a receiver.
func (f AlertEffect) Objections(receiver string) []check.Finding {
	var out []check.Finding
	object := func(message, remedy string) {
		out = append(out, check.Finding{Suspect: "receiver " + receiver, Message: "no alert is raised: " + message, Remedy: remedy})
	}
	if !f.Consent {
		object("it may page people, and neither --page nor telemetry.alert.pagesNobody permits that",
			"announce the alert "+alertName+" to the people on call and run the gate with --page; or name a receiver that pages no person in telemetry.receiver and set telemetry.alert.pagesNobody")
	}
	if !slices.Equal(f.Reached, []string{receiver}) {
		object("it is routed to "+strings.Join(f.Reached, ", ")+", and only "+receiver+" may be notified",
			"add a route that leads an alert with the labels of telemetry.alert.labels to "+receiver+" alone (without continue), or correct telemetry.receiver. "+
				"If routes match labels that Prometheus or a ruler adds, set them in telemetry.alert.labels, for example cluster: prod")
	}
	if len(f.Inhibits) > 0 {
		object("it could mute alerts of others by the inhibition rules with source "+strings.Join(f.Inhibits, ", "),
			"set telemetry.alert.labels to labels that are routed to the receiver and are not the source of an inhibition rule, or add alertname to equal of the rule")
	}
	return out
}
