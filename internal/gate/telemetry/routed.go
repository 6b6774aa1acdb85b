package telemetry

import (
	"context"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// reached reports whether the alert is routed to the receiver, at every Alertmanager.
func (g *Gate) reached(f alertFigures) bool {
	return len(f.Alerts) > 0 && len(f.NotListedBy) == 0 && !slices.ContainsFunc(f.Alerts, func(a prom.AlertState) bool {
		return a.State != "active" || !g.routed(a)
	})
}

// routed reports whether the alert is routed to the receiver and to no other; several routes may lead there.
func (g *Gate) routed(a prom.AlertState) bool {
	return slices.Contains(a.Receivers, g.telemetry.Receiver) && len(g.strangers(a)) == 0
}

// strangers are the other receivers of the alert.
func (g *Gate) strangers(a prom.AlertState) []string {
	return slices.DeleteFunc(slices.Clone(a.Receivers), func(name string) bool { return name == g.telemetry.Receiver })
}

// astray reports whether the alert is routed to another receiver, which it must not notify, or muted: waiting is
// useless.
func (g *Gate) astray(f alertFigures) bool {
	return slices.ContainsFunc(f.Alerts, func(a prom.AlertState) bool {
		return a.State == "active" && len(g.strangers(a)) > 0 || len(a.MutedBy) > 0
	})
}

// addMuted adds the time intervals that mute the routes of the alerts, which Alertmanager lists as active, and returns
// the response. Without it a muted alert still fails: nothing is sent.
func (p *proof) addMuted(ctx context.Context, am prom.Alertmanager, alerts []prom.AlertState) []byte {
	muted, raw, err := am.MutedBy(ctx, attemptLabel, p.attempt)
	if err != nil || len(muted) == 0 {
		return raw
	}
	for i := range alerts {
		alerts[i].State, alerts[i].MutedBy = "suppressed", muted
	}
	return raw
}
