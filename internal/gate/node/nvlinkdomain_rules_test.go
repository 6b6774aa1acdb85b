package node_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/site"
)

// The clusterUuid is that of a GB300 NVL72 in public.
func TestNVLinkDomains(t *testing.T) {
	t.Parallel()
	const one, other, zero = "00000001-0000-0000-0000-000000000001", "00000002-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000000"
	in := func(cluster, clique string) func(*nvidia.GPU) {
		return func(g *nvidia.GPU) { g.FabricCluster, g.FabricClique = cluster, clique }
	}
	move := func(h *hostSeen, cluster, clique string) {
		for i := range gpusPerNode {
			h.gpu(i, in(cluster, clique))
		}
	}
	for name, tt := range map[string]struct {
		size, leftOut int
		racks         []string
		spoil         func([]*hostSeen)
		want          check.Verdict
		suspect, says string
	}{
		"one domain":                       {18, 0, nil, func([]*hostSeen) {}, check.Passed, "", ""},
		"no cluster":                       {18, 0, nil, func(h []*hostSeen) { h[1].gpu(2, in("", "32766")) }, check.Unobserved, "gpu-02/gpu2", "does not report its NVLink domain"},
		"no clique":                        {18, 0, nil, func(h []*hostSeen) { h[1].gpu(2, in(one, "")) }, check.Unobserved, "gpu-02/gpu2", "does not report its NVLink domain"},
		"a cluster of zeros":               {18, 0, nil, func(h []*hostSeen) { h[1].gpu(2, in(zero, "0")) }, check.Failed, "gpu-02/gpu2", "in no NVLink domain"},
		"two cliques in a node":            {18, 0, nil, func(h []*hostSeen) { h[1].gpu(2, in(one, "1")) }, check.Failed, "gpu-02", "its GPUs are in 2 NVLink domains"},
		"a node in another domain":         {18, 0, nil, func(h []*hostSeen) { move(h[1], other, "32766") }, check.Unobserved, "gpu-02", "without their racks"},
		"a node in another clique":         {18, 0, nil, func(h []*hostSeen) { move(h[1], one, "1") }, check.Unobserved, "gpu-02", "without their racks"},
		"each node in a domain of its own": {18, 0, nil, func(h []*hostSeen) { move(h[1], other, "1"); move(h[2], other, "2") }, check.Unobserved, "gpu-01", "3 domains"},
		"two full domains":                 {2, 1, nil, func(h []*hostSeen) { move(h[2], other, "32766") }, check.Passed, "", ""},
		"domains that left-out nodes fill": {3, 1, nil, func(h []*hostSeen) { move(h[2], other, "32766") }, check.Passed, "", ""},
		"more nodes than a domain has":     {2, 0, nil, func([]*hostSeen) {}, check.Failed, "gpu-03", "has 3 nodes, expected at most 2"},
		"a domain for each rack":           {18, 0, []string{"r1", "r1", "r2"}, func(h []*hostSeen) { move(h[2], other, "32766") }, check.Passed, "", ""},
		"a rack in two domains":            {18, 0, []string{"r1", "r1", "r1"}, func(h []*hostSeen) { move(h[2], other, "32766") }, check.Failed, "gpu-03", "of rack r1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s, hosts := testProfile(t), testSite(3), healthy(t, 3)
			p.Node.NVLinkDomain.Value, s.NVLink.IMEX = float64(tt.size), site.IMEXByDRA
			s.Inventory.LeftOut = make([]string, tt.leftOut)
			for i, rack := range tt.racks {
				s.Inventory.Nodes[i].Rack = rack
			}
			for _, h := range hosts {
				move(h, one, "32766")
			}
			tt.spoil(hosts)
			j := plan.Judge(node.New(s, p, node.Deps{}), observations(t, hosts))
			if tt.want == check.Passed {
				if j.Verdict != check.Passed {
					t.Errorf("%s: %+v", j.Verdict, j.Findings)
				}
				return
			}
			checktest.Judged(t, j, tt.want, tt.suspect, tt.says)
		})
	}
}
