package collective

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
)

// A class floor is the limit itself, and bandwidth far above it passes: no measurement of this
// hardware is published.
func TestClassFloor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		factor  float64 // of 384 GB/s over four nodes
		verdict check.Verdict
		saying  string
	}{
		"above it":        {1, check.Passed, ""},
		"just above it":   {0.79, check.Passed, ""},
		"below it":        {0.77, check.Failed, "expected at least 300.00: the class floor of 2 nodes, for which no measurement is published"},
		"far above links": {2.5, check.Unobserved, "above the highest ceiling"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite())
			g.profile.Collective.Ceilings = append(g.profile.Collective.Ceilings[:1:1], profile.Ceiling{Nodes: 2, ClassFloor: true, Busbw: profile.Figure{Value: 300, Unit: "GB/s", Source: "class floor: of a test"}})
			g.profile.Collective.ScaleLoss = nil
			j, _ := observeAndJudge(t, g, cluster{factor: tt.factor})
			if j.Verdict != tt.verdict {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			if tt.saying != "" && !strings.Contains(j.Findings[0].Message, tt.saying) {
				t.Errorf("%q does not say %q", j.Findings[0].Message, tt.saying)
			}
			for _, f := range j.Figures {
				if f.Name == "busbw" && f.Source != "profile collective.ceilings: class floor: of a test" {
					t.Errorf("source of the limit: %s", f.Source)
				}
			}
		})
	}
}

// NCCL names the devices of InfiniBand and RoCE only: on another fabric the transport is judged alone.
func TestDevicesOfOtherFabrics(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]check.Verdict{profile.EFA: check.Passed, profile.TCPXO: check.Passed, profile.InfiniBand: check.Failed} {
		s := testSite()
		s.Fabric.HCAs = nil
		g := testGate(t, s)
		g.profile.Fabric.Kind = kind
		j, _ := observeAndJudge(t, g, cluster{})
		if j.Verdict != want {
			t.Errorf("%s: %s: %s", kind, j.Verdict, j.Reason)
		}
		if kind == profile.TCPXO && !strings.HasSuffix(j.Reason, "channels between nodes on NET/IB") {
			t.Errorf("%s: %s", kind, j.Reason)
		}
		g.profile.Collective.Transports = []string{"NET/FasTrak"}
		if j, _ := observeAndJudge(t, g, cluster{}); j.Verdict != check.Failed {
			t.Errorf("%s over a transport that is not allowed: %s: %s", kind, j.Verdict, j.Reason)
		}
	}
}
