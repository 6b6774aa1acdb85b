package roce

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/fabric/uniform"
	"github.com/firstlight/firstlight/internal/probe/roce"
	"github.com/firstlight/firstlight/internal/site"
)

// judgeQoS requires that RDMA traffic is in the site's priority on every port, and that priority flow
// control is enabled on it. The priorities with PFC must be the same everywhere.
func (g *Gate) judgeQoS(b *check.Builder, views []view) {
	var samples []uniform.Sample
	enabled := 0
	for _, v := range views {
		if v.netdev == "" || !v.host.readable[kindQoS] {
			continue // reported for the port or the host
		}
		q, ok := v.host.qos[v.hca]
		if !ok {
			b.Unobserved(v.id(kindQoS), v.name, remedySSH, "the QoS of %s, the network device of %s, was not read", v.netdev, v.name)
			continue
		}
		if g.demands(site.WithoutPFC) {
			if q.PFC[g.priority()] {
				enabled++
				samples = append(samples, uniform.Sample{Adapter: v.name, Value: priorities(q), Observation: v.host.ids[kindQoS]})
			} else {
				b.Fail(v.id(kindQoS), v.name, g.remedyPFC(), "PFC is not enabled on priority %d of %s (%s); it is on %s", g.priority(), v.name, v.netdev, priorities(q))
			}
		}
		g.dscp(b, v, q)
	}
	uniform.Require(b, samples, "PFC on priorities", "ports", g.remedyPFC())
	if g.demands(site.WithoutPFC) {
		b.Figure(check.Figure{
			Name: fmt.Sprintf("ports with PFC on priority %d", g.priority()), Value: float64(enabled), Unit: "ports", Limit: float64(g.expected()), Relation: "==", Source: "site inventory x fabric.hcas",
		})
	}
}

// priorities lists those with PFC.
func priorities(q roce.QoS) string {
	on := q.Enabled()
	if len(on) == 0 {
		return "no priority"
	}
	return strings.Trim(fmt.Sprint(on), "[]")
}

func (g *Gate) remedyPFC() string {
	list := []byte("0,0,0,0,0,0,0,0")
	list[2*g.priority()] = '1'
	return fmt.Sprintf("enable it (mlnx_qos -i NETDEV --pfc %s, or dcb pfc set dev NETDEV prio-pfc all:off %d:on) at each boot, as on the switch ports; then run again: firstlight accept --from fabric", list, g.priority())
}

// dscp requires that packets with the DSCP of RDMA traffic have its priority.
func (g *Gate) dscp(b *check.Builder, v view, q roce.QoS) {
	want := g.site.Fabric.RoCE.DSCP
	if want == nil {
		return
	}
	remedy := fmt.Sprintf("let the port trust the DSCP (mlnx_qos -i NETDEV --trust dscp, or dcb app add dev NETDEV dscp-prio %d:%d) at each boot, then run again: firstlight accept --from fabric", *want, g.priority())
	if q.Trust != roce.TrustDSCP {
		b.Fail(v.id(kindQoS), v.name, remedy, "%s (%s) takes the priority of packets from their %s, not from their DSCP: RDMA traffic with DSCP %d is not in priority %d", v.name, v.netdev, q.Trust, *want, g.priority())
		return
	}
	if priority, ok := q.DSCP[*want]; !ok || priority != g.priority() {
		b.Fail(v.id(kindQoS), v.name, remedy, "%s (%s) does not map DSCP %d to priority %d", v.name, v.netdev, *want, g.priority())
	}
}
