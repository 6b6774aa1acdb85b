package telemetry

import (
	"slices"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// settled reports whether every integration of the receiver has delivered or failed. A started
// notification is neither: Alertmanager retries for more than ten seconds. Counters of another
// Alertmanager are ignored. Of several Alertmanagers, one sends the notification.
func settled(r prom.Receiver, before, after []prom.Notifications) bool {
	if !sameProcesses(before, after) {
		return false
	}
	was, is := added(r, before), added(r, after)
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

// sharing is another receiver with the same kind of integration if an Alertmanager does not count
// by receiver: the counted notification may then be of either.
func sharing(r prom.Receiver, kind string, all []prom.Receiver, each []prom.Notifications) string {
	if !slices.ContainsFunc(each, func(n prom.Notifications) bool { return n.ByReceiver == nil }) {
		return ""
	}
	for _, other := range all {
		if other.Name != r.Name && slices.Contains(other.Integrations, kind) {
			return other.Name
		}
	}
	return ""
}

// added is the sum of the notifications of one receiver over all Alertmanagers.
func added(r prom.Receiver, each []prom.Notifications) prom.Notifications {
	sum := prom.Notifications{Total: map[string]float64{}, Failed: map[string]float64{}, Delivered: map[string]float64{}}
	for _, n := range each {
		of := notified(r, n)
		for _, m := range [][2]map[string]float64{{sum.Total, of.Total}, {sum.Failed, of.Failed}, {sum.Delivered, of.Delivered}} {
			for kind, v := range m[1] {
				m[0][kind] += v
			}
		}
	}
	return sum
}

// sameProcesses reports whether both are of the same processes, which are known and different: two
// addresses of one process would count its notifications twice.
func sameProcesses(before, after []prom.Notifications) bool {
	seen := map[float64]bool{0: true} // not known
	for _, n := range before {
		if seen[n.Started] {
			return false
		}
		seen[n.Started] = true
	}
	return slices.EqualFunc(before, after, func(b, a prom.Notifications) bool { return b.Started == a.Started })
}
