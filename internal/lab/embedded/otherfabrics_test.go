package embedded_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestRoCE and TestEFA: a lab of another fabric starts with a site that its checks can read over SSH: the
// fabric, the hosts, the GPU stack and the collective pass, and a fault of the fabric fails its gate.
func TestRoCE(t *testing.T) { testOtherFabric(t, "h100-sxm-roce400", "pfc-off") }
func TestEFA(t *testing.T)  { testOtherFabric(t, "h200-sxm-efa-p5en", "efa-missing") }

func testOtherFabric(t *testing.T, hardware, fault string) {
	t.Helper()
	suite.Require(t, suite.All)
	suite.Live(t)
	spec, err := world.SpecOf(hardware, 2)
	if err != nil {
		t.Fatal(err)
	}
	l := labtest.Start(t, spec)
	l.Retire() // no other test uses such a lab
	if l.Site.Profile != hardware || len(l.Site.NotApplicable) > 0 || len(l.Site.Fabric.Switches) > 0 {
		t.Fatalf("site of profile %s, not applicable %v, fabric %+v", l.Site.Profile, l.Site.NotApplicable, l.Site.Fabric)
	}
	pool, err := ssh.NewPool(t.Context(), l.Site, ssh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	playbook, err := gate.Playbook(l.Site, l.Profile, gate.Access{Hosts: pool, Cluster: l.Open, RunID: "roce"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		gate    string
		fault   string
		verdict check.Verdict
	}{
		{"fabric", "", check.Passed},
		{"fabric", fault, check.Failed},
		{"node", "", check.Passed},
		{"gpustack", "", check.Passed},
		{"collective", "", check.Passed},
	} {
		t.Run(tt.gate+" "+tt.fault, func(t *testing.T) {
			if tt.fault != "" {
				defer l.Fault(t, world.Fault{Kind: tt.fault})()
			}
			for _, step := range playbook.Steps {
				if step.Check.Name() != tt.gate {
					continue
				}
				rec := &labtest.Recorder{T: t}
				if err := step.Check.Observe(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				if j := step.Check.Judge(rec.Observations()); j.Verdict != tt.verdict {
					t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
				}
			}
		})
	}
}
