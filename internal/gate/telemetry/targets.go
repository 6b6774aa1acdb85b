package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// observeAlertmanagers records where Prometheus sends its alerts, and which processes answer for it. known is false if
// the receivers of an alert of a rule are unknown, since the Alertmanagers could not be read.
func (g *Gate) observeAlertmanagers(ctx context.Context, p prom.Prometheus, rec check.Recorder) (f alertmanagerFigures, known bool, err error) {
	command := "GET /api/v1/alertmanagers"
	if g.byRule() {
		command += fmt.Sprintf("; GET /api/v1/status/runtimeinfo on %d new connections", answersWanted)
	}
	attempt := g.begin(rec, kindAlertmanagers, p.Name(), command)
	active, raw, readErr := p.Alertmanagers(ctx)
	f = alertmanagerFigures{Active: active, NotServed: errors.Is(readErr, prom.ErrNotServed)}
	if f.NotServed {
		readErr = nil
	}
	if g.byRule() {
		f.Processes = processes(ctx, p)
	}
	return f, readErr == nil || !g.byRule(), attempt.Raw(raw).Record(f, readErr)
}

// processes are the distinct processes that answer on new connections. It ends with the first that is unknown, "".
func processes(ctx context.Context, p prom.Prometheus) []string {
	var out []string
	for range answersWanted {
		p.Close()
		process, _ := p.Process(ctx) // unknown where the address does not serve it
		if !slices.Contains(out, process) {
			out = append(out, process)
		}
		if process == "" {
			break
		}
	}
	slices.Sort(out)
	return out
}

// resendWithin is the longest time between two sends of an active alert by one Prometheus: at the first evaluation
// after --rules.alert.resend-delay, each 1 min by default (needsSending in rules/alerting.go of Prometheus).
const resendWithin = 2 * time.Minute

// quietOf is how long no Alertmanager must list an alert that has ended: another Prometheus that has not loaded the end
// of the rule sends the alert again, as active for minutes.
func quietOf(processes []string) time.Duration {
	if len(processes) == 1 && processes[0] != "" {
		return 0
	}
	return resendWithin
}

// addresses are the distinct Alertmanagers.
func (f alertmanagerFigures) addresses() []string {
	return slices.Compact(slices.Sorted(slices.Values(f.Active)))
}

// MoreThanNamed reports whether there are more Alertmanagers than the site names: an alert of a rule would go to
// receivers without consent.
func (g *Gate) MoreThanNamed(active []string) bool {
	return g.unnamed(alertmanagerFigures{Active: active})
}

func (g *Gate) unnamed(f alertmanagerFigures) bool {
	return g.byRule() && len(f.addresses()) > len(g.endpoints())
}

// unnamedMembers is unnamed for the members of Alertmanager's cluster: Prometheus must send to each.
func (g *Gate) unnamedMembers(n float64) bool {
	return g.byRule() && int(n) > len(g.endpoints())
}

// ExternalLabels are the labels that Prometheus adds to the alert of a rule; none if its configuration is not served.
func (g *Gate) ExternalLabels(ctx context.Context, p prom.Prometheus) map[string]string {
	if !g.byRule() {
		return nil
	}
	c, err := p.Config(ctx)
	if err != nil {
		return nil // Thanos, Mimir and managed services
	}
	return c.External
}
