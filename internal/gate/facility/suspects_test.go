package facility_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

// Ids are those that real controllers have: each rack PDU is a service of its own with /redfish/v1/PowerEquipment/RackPDUs/1
// (DMTF/Redfish-Tacklebox issue 137), and BMCs call their chassis 1, Self or System.Embedded.1.
func TestSuspectsWithTheSameID(t *testing.T) {
	t.Parallel()
	pdu := func(mains string) []redfish.PDU {
		return []redfish.PDU{{ID: "1", State: "Enabled", Health: "OK", Mains: []string{mains}}}
	}
	chassis := func(id, state string, watts float64) []redfish.Chassis {
		return []redfish.Chassis{{ID: id, State: state, Watts: watts}}
	}
	for name, tt := range map[string]struct {
		controllers []site.Redfish
		readings    map[string]redfish.Reading
		suspects    string
		leftOut     []string // with --allow-failed 1; nil: the gate fails as a whole
	}{
		"two PDUs": {
			[]site.Redfish{{Name: "pdu-a16", PDUs: []string{"1"}}, {Name: "pdu-a17", PDUs: []string{"1"}}},
			map[string]redfish.Reading{"pdu-a16": {PDUs: pdu("On")}, "pdu-a17": {PDUs: pdu("Off")}}, "pdu-a17/1", nil,
		},
		"a BMC each": {
			[]site.Redfish{{Name: "gpu-01", Chassis: []string{"System.Embedded.1"}}, {Name: "gpu-02", Chassis: []string{"System.Embedded.1"}}},
			map[string]redfish.Reading{"gpu-01": {Chassis: chassis("System.Embedded.1", "On", 1500)}, "gpu-02": {Chassis: chassis("System.Embedded.1", "Off", 80)}}, "gpu-02/System.Embedded.1", []string{"gpu-02"},
		},
		"one BMC": {
			[]site.Redfish{{Name: "gpu-02", Chassis: []string{"Self"}}},
			map[string]redfish.Reading{"gpu-02": {Chassis: chassis("Self", "Off", 80)}}, "gpu-02/Self", []string{"gpu-02"},
		},
		"a BMC of another name": {
			[]site.Redfish{{Name: "bmc-2", Chassis: []string{"Self"}}},
			map[string]redfish.Reading{"bmc-2": {Chassis: chassis("Self", "Off", 80)}}, "Self", nil,
		},
		"a controller of a rack": {
			[]site.Redfish{{Name: "rack-1", PDUs: []string{"1"}, Chassis: []string{"gpu-01", "gpu-02"}}},
			map[string]redfish.Reading{"rack-1": {PDUs: pdu("On"), Chassis: slices.Concat(chassis("gpu-01", "On", 900), chassis("gpu-02", "Off", 80))}}, "gpu-02", []string{"gpu-02"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := room()
			s.Facility.Redfish = tt.controllers
			g := facility.New(s, p, facility.Deps{Clock: testingclock.NewFakePassiveClock(noon), Read: func(_ context.Context, r site.Redfish) (redfish.Reading, error) {
				reading := tt.readings[r.Name]
				reading.Controller = r.Name
				return reading, nil
			}})
			var b book
			if err := g.Observe(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			j := g.Judge(b.obs)
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
				if owner, _, named := strings.Cut(f.Suspect, "/"); named && !strings.Contains(f.Message, "controller "+owner) {
					t.Errorf("the message does not name the controller: %s", f.Message)
				}
			}
			if got := strings.Join(suspects, " "); got != tt.suspects || j.Verdict != check.Failed {
				t.Errorf("%s: %s, want %s", j.Verdict, got, tt.suspects)
			}
			j = plan.JudgePart(g, playbook.Expected{}, b.obs, nil, 1)
			if fmt.Sprint(j.LeftOut) != fmt.Sprint(tt.leftOut) || (j.Verdict == check.Partial) != (tt.leftOut != nil) {
				t.Errorf("with one failed node allowed: %s without %v, want %v", j.Verdict, j.LeftOut, tt.leftOut)
			}
		})
	}
}
