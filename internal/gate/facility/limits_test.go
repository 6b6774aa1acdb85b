package facility_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/site"
)

// PDUs are judged, and counted, where the site names them; others are not.
func TestPDUsAreThoseOfTheSite(t *testing.T) {
	t.Parallel()
	foreign := redfish.PDU{ID: "pdu-z", State: "Enabled", Health: "OK"}
	for name, tt := range map[string]struct {
		pdus   []string
		also   []redfish.PDU
		counts bool
	}{
		"none is named":                  {nil, nil, false},
		"one is named":                   {[]string{"pdu-a"}, nil, true},
		"a foreign one reports no mains": {[]string{"pdu-a", "pdu-b"}, []redfish.PDU{foreign}, true},
	} {
		s, p := room()
		s.Facility.Redfish[0].PDUs = tt.pdus
		r := reading()
		r.PDUs = append(r.PDUs, tt.also...)
		j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, r, nil))
		counts := slices.ContainsFunc(j.Figures, func(f check.Figure) bool { return f.Name == "PDUs energised" && f.Limit == float64(len(tt.pdus)) })
		if j.Verdict != check.Passed || counts != tt.counts {
			t.Errorf("%s: %s: %s, %+v", name, j.Verdict, j.Reason, j.Figures)
		}
	}
}

// A sign-off that has expired is renewed; one that is wrong is corrected.
func TestWhatToDoAboutASignOff(t *testing.T) {
	t.Parallel()
	for expires, remedy := range map[string]string{"2026-11-20": "inspected and signed off again", "": "by, role, reference, at, expires"} {
		s, p := room()
		s.Facility.SignOff.Expires = expires
		j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, reading(), nil))
		if j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Remedy, remedy) {
			t.Errorf("expires %q: %s: %+v", expires, j.Verdict, j.Findings)
		}
	}
}

// A budget holds at itself, and not above.
func TestABudgetHoldsAtItself(t *testing.T) {
	t.Parallel()
	s, p := room()
	s.Facility.Power = site.Budget{Provided: site.Quantity{Value: 20, Unit: "kW"}}
	if j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, reading(), nil)); j.Verdict != check.Passed {
		t.Errorf("20 of 20 kW: %s: %s", j.Verdict, j.Reason)
	}
	s.Facility.Power.Provided.Value = 19.99
	if j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, reading(), nil)); j.Verdict != check.Failed {
		t.Errorf("20 of 19.99 kW: %s: %s", j.Verdict, j.Reason)
	}
}
