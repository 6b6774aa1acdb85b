package node_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
)

// allGPUs changes all GPUs of a host.
func allGPUs(h *hostSeen, change func(*nvidia.GPU)) {
	for i := range h.Before.Log.GPUs {
		h.gpu(i, change)
	}
}

// A new node has the VBIOS and the firmware of the accepted nodes, also if it is the only new one, or
// most new ones are otherwise.
func TestNewNodesAreLikeAcceptedOnes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change  func(h *hostSeen)
		verdict check.Verdict
		says    string
	}{
		"alike":            {func(*hostSeen) {}, check.Passed, ""},
		"another VBIOS":    {func(h *hostSeen) { allGPUs(h, func(g *nvidia.GPU) { g.VBIOS = "95.00" }) }, check.Failed, "is 95.00, expected 96.00"},
		"VBIOS unread":     {func(h *hostSeen) { allGPUs(h, func(g *nvidia.GPU) { g.VBIOS = "" }) }, check.Unobserved, "reports no VBIOS"},
		"another product":  {func(h *hostSeen) { allGPUs(h, func(g *nvidia.GPU) { g.Product += " v2" }) }, check.Failed, "no accepted node has a VBIOS of it"},
		"another firmware": {func(h *hostSeen) { h.HCAs.HCAs[1].Firmware = "28.41" }, check.Failed, "firmware of MT4129 is 28.41, expected 28.39 or 28.40"},
		"firmware unread":  {func(h *hostSeen) { h.HCAs.HCAs[1].Firmware = "" }, check.Unobserved, "reports no firmware"},
		"another adapter":  {func(h *hostSeen) { h.HCAs.HCAs[1].Type = "MT4131" }, check.Failed, "is MT4131, and no accepted node"},
		"one not of a fabric": {func(h *hostSeen) {
			h.HCAs.HCAs = append(h.HCAs.HCAs, h.HCAs.HCAs[0])
			h.HCAs.HCAs[2].Name, h.HCAs.HCAs[2].Type = "mlx5_9", "MT9"
		}, check.Passed, ""},
	} {
		for _, nodes := range []int{1, 2} {
			hosts := healthy(t, nodes)
			accepted := node.Components{}
			for _, g := range hosts[0].Before.Log.GPUs {
				accepted.Add("VBIOS of "+g.Product, g.VBIOS)
			}
			accepted.Add("firmware of MT4129", "28.39", "28.40")
			for _, h := range hosts {
				for i := range h.HCAs.HCAs {
					h.HCAs.HCAs[i].Type, h.HCAs.HCAs[i].Firmware = "MT4129", "28.40"
				}
				tt.change(h)
			}
			obs := observations(t, hosts)
			g := node.New(testSite(nodes+1), testProfile(t), node.Deps{}).Like(accepted).Excluding(testSite(nodes + 1).NodeNames()[nodes:])
			j := plan.Judge(g, obs)
			if j.Verdict != tt.verdict || tt.says != "" && (len(j.Findings) == 0 || !strings.Contains(j.Findings[0].Message, tt.says)) {
				t.Errorf("%s, %d new nodes: %s %s %+v", name, nodes, j.Verdict, j.Reason, j.Findings)
			}
		}
	}
}
