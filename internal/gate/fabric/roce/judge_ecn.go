package roce

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// judgeECN requires that every port answers marked packets with congestion notifications, and slows
// down for those of its peers, on the site's priority.
func (g *Gate) judgeECN(b *check.Builder, views []view) {
	if !g.demands(site.WithoutECN) {
		return
	}
	enabled, priority := 0, g.priority()
	for _, v := range views {
		remedy := fmt.Sprintf("echo 1 > /sys/class/net/NETDEV/ecn/roce_np/enable/%[1]d and .../roce_rp/enable/%[1]d at each boot, then run again: firstlight accept --from fabric", priority)
		notifies, np := v.device.Notifies[priority]
		reacts, rp := v.device.Reacts[priority]
		switch {
		case !np || !rp:
			b.Unobserved(v.id(kindDevices), v.name,
				"install NVIDIA's drivers (DOCA-OFED), whose sysfs has ecn/roce_np and ecn/roce_rp; or declare fabric.roce.without: [ecn]",
				"%s does not show whether ECN is enabled on priority %d: the driver has no file for it",
				v.name, priority)
		case !notifies:
			b.Fail(v.id(kindDevices), v.name, remedy, "ECN is off on priority %d of %s: its notification point (roce_np) sends no congestion notifications", priority, v.name)
		case !reacts:
			b.Fail(v.id(kindDevices), v.name, remedy, "ECN is off on priority %d of %s: its reaction point (roce_rp) does not slow down", priority, v.name)
		default:
			enabled++
		}
	}
	b.Figure(check.Figure{
		Name: fmt.Sprintf("ports with ECN on priority %d", priority), Value: float64(enabled), Unit: "ports", Limit: float64(g.expected()), Relation: "==", Source: "site inventory x fabric.hcas",
	})
}
