package facility_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/probe/redfish"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// room is a site of two nodes with everything in order, and its profile.
func room() (*site.Site, *profile.Profile) {
	f := func(v float64, unit string) profile.Figure {
		return profile.Figure{Value: v, Unit: unit, Source: "test"}
	}
	q := func(v float64, unit string) site.Budget {
		return site.Budget{Provided: site.Quantity{Value: v, Unit: unit}, Reserve: 0.1}
	}
	return &site.Site{
			Name: "lab",
			Facility: site.Facility{
				SignOff: site.SignOff{By: "A. Person", Role: "facility manager", Reference: "L3-SAT-7", At: "2026-11-01", Expires: "2027-11-01"},
				Power:   q(30, "kW"), Cooling: q(30, "kW"), Weight: q(400, "kg"),
				Redfish: []site.Redfish{{Name: "rack-1", URL: "https://bmc.test", PDUs: []string{"pdu-a", "pdu-b"}, Chassis: []string{"gpu-01"}}},
			},
			Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01"}, {Name: "gpu-02"}}},
		}, &profile.Profile{Node: profile.Node{
			Power: f(10, "kW"), Heat: f(10, "kW"), Weight: f(130, "kg"),
		}}
}

func reading() redfish.Reading {
	return redfish.Reading{
		Controller: "rack-1",
		PDUs:       []redfish.PDU{{ID: "pdu-a", State: "Enabled", Health: "OK", Mains: []string{"On", "On"}}, {ID: "pdu-b", State: "Enabled", Health: "OK", Mains: []string{"On"}}},
		Chassis:    []redfish.Chassis{{ID: "gpu-01", State: "On", Watts: 1500}},
	}
}

// book keeps what is recorded.
type book struct {
	obs  []check.Observation
	fail error
}

func (b *book) Record(o check.Observation) (check.Observation, error) {
	if b.fail != nil {
		return o, b.fail
	}
	o.ID = "obs-" + o.Kind + "-" + o.Target
	b.obs = append(b.obs, o)
	return o, nil
}

func (b *book) Progress(string, ...any) {}

// look observes with a controller that answers r or err.
func look(t *testing.T, s *site.Site, p *profile.Profile, r redfish.Reading, err error) []check.Observation {
	t.Helper()
	g := facility.New(s, p, facility.Deps{
		Clock: testingclock.NewFakePassiveClock(noon),
		Read:  func(context.Context, site.Redfish) (redfish.Reading, error) { return r, err },
	})
	var b book
	if err := g.Observe(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.obs
}

func TestHealthyPasses(t *testing.T) {
	t.Parallel()
	s, p := room()
	obs := look(t, s, p, reading(), nil)
	j := facility.New(s, p, facility.Deps{}).Judge(obs)
	if j.Verdict != check.Passed || len(j.Findings) != 0 {
		t.Fatalf("%+v", j)
	}
	for _, want := range []check.Figure{
		{Name: "power demand", Value: 20, Unit: "kW", Limit: 27, Relation: "<="},
		{Name: "weight demand", Value: 260, Unit: "kg", Limit: 360, Relation: "<="},
		{Name: "PDUs energised", Value: 2, Unit: "PDUs", Limit: 2, Relation: "=="},
	} {
		if !slices.ContainsFunc(j.Figures, func(f check.Figure) bool {
			source := f.Source
			f.Source = ""
			return f == want && source != ""
		}) {
			t.Errorf("figure %+v is missing in %+v", want, j.Figures)
		}
	}
}

func TestWithoutControllersPasses(t *testing.T) {
	t.Parallel()
	s, p := room()
	s.Facility.Redfish = nil
	if j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, redfish.Reading{}, nil)); j.Verdict != check.Passed {
		t.Errorf("%+v", j)
	}
}

func TestEachDefect(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil   func(s *site.Site, p *profile.Profile, r *redfish.Reading)
		suspect string
		message string
	}{
		"not signed":              {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.SignOff = site.SignOff{} }, "site facility.signOff", "not signed off"},
		"sign-off without a name": {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.SignOff.By = "" }, "site facility.signOff", "by is missing"},
		"no reference":            {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.SignOff.Reference = "" }, "site facility.signOff", "reference is missing"},
		"expired": {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) {
			s.Facility.SignOff.Expires = "2026-11-21T11:59:59Z"
		}, "site facility.signOff", "expired"},
		"expires right now": {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) {
			s.Facility.SignOff.Expires = "2026-11-21T12:00:00Z"
		}, "site facility.signOff", "expired"},
		"from the future":    {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.SignOff.At = "2026-11-22" }, "site facility.signOff", "dated"},
		"no date":            {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.SignOff.Expires = "next year" }, "site facility.signOff", "invalid date"},
		"too little power":   {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.Power.Provided.Value = 22 }, "site facility.power", "20.0 kW"},
		"reserve used up":    {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.Power.Reserve = 0.4 }, "site facility.power", "18.0 kW"},
		"too little cooling": {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.Cooling.Provided.Value = 10 }, "site facility.cooling", "cooling"},
		"too heavy":          {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Facility.Weight.Provided.Value = 200 }, "site facility.weight", "weight"},
		"no nodes":           {func(s *site.Site, _ *profile.Profile, _ *redfish.Reading) { s.Inventory.Nodes = nil }, "site facility.power", "0 nodes"},
		"no figure":          {func(_ *site.Site, p *profile.Profile, _ *redfish.Reading) { p.Node.Heat.Value = 0 }, "site facility.cooling", "demand 0.0"},
		"PDU off":            {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) { r.PDUs[1].Mains = []string{"Off"} }, "pdu-b", "not energised"},
		"PDU not there":      {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) { r.PDUs = r.PDUs[:1] }, "pdu-b", "has no PDU"},
		"chassis dark":       {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) { r.Chassis[0].Watts = 0 }, "gpu-01", "draws no power"},
		"chassis on standby": {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) {
			r.Chassis[0].State, r.Chassis[0].Watts = "Off", 95
		}, "gpu-01", "not switched on"},
		"chassis not yet on": {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) { r.Chassis[0].State = "PoweringOn" }, "gpu-01", "PoweringOn"},
		"chassis not there":  {func(_ *site.Site, _ *profile.Profile, r *redfish.Reading) { r.Chassis = nil }, "gpu-01", "does not list chassis"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := room()
			r := reading()
			tt.spoil(s, p, &r)
			j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, r, nil))
			if j.Verdict != check.Failed {
				t.Fatalf("%+v", j)
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool {
				return f.Suspect == tt.suspect && strings.Contains(f.Message, tt.message) && f.Remedy != "" && len(f.Observations) == 1 && f.Observations[0] != ""
			}) {
				t.Errorf("want %s: %s, got %+v", tt.suspect, tt.message, j.Findings)
			}
		})
	}
}

func TestNotSeenIsUnobserved(t *testing.T) {
	t.Parallel()
	s, p := room()
	g := facility.New(s, p, facility.Deps{})
	all := look(t, s, p, reading(), nil)
	for name, obs := range map[string][]check.Observation{
		"nothing":                 nil,
		"no facility":             all[1:],
		"no controller":           all[:1],
		"controller unreachable":  look(t, s, p, redfish.Reading{}, errors.New("no route to host")),
		"no figures":              {{Kind: all[0].Kind, Target: all[0].Target}, all[1]},
		"figures of another kind": {all[0], {Kind: all[1].Kind, Target: all[1].Target, Figures: []byte(`[1]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := g.Judge(obs); j.Verdict != check.Unobserved || j.Reason == "" {
				t.Errorf("%+v", j)
			}
		})
	}
}

// A PDU that reports no incoming circuit was energised by none of them being off.
func TestAPDUWithoutMainsIsUnobserved(t *testing.T) {
	t.Parallel()
	s, p := room()
	r := reading()
	r.PDUs[1].Mains = nil
	j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, r, nil))
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "pdu-b" || !strings.Contains(j.Findings[0].Message, "mains") {
		t.Errorf("%+v", j)
	}
}

// A controller that cannot show one of its resources (openbmc/bmcweb issue 98: HTTP 500 of a system) leaves the others judged.
func TestAResourceThatIsNotReadIsUnobserved(t *testing.T) {
	t.Parallel()
	s, p := room()
	s.Facility.Redfish[0].Chassis = append(s.Facility.Redfish[0].Chassis, "gpu-02")
	r := reading()
	r.Chassis = append(r.Chassis, redfish.Chassis{ID: "gpu-02", Unread: "its systems: 500: Internal Server Error"})
	r.PDUs[1].Unread = "mains: 503: Service Unavailable"
	g := facility.New(s, p, facility.Deps{})
	j := g.Judge(look(t, s, p, r, nil))
	if j.Verdict != check.Unobserved || len(j.Findings) != 2 || j.Findings[0].Suspect != "pdu-b" || j.Findings[1].Suspect != "gpu-02" {
		t.Fatalf("%+v", j)
	}
	for i, want := range []string{"controller rack-1 does not show PDU pdu-b: mains: 503", "controller rack-1 does not show chassis gpu-02: its systems: 500"} {
		if !strings.Contains(j.Findings[i].Message, want) {
			t.Errorf("%+v, want %s", j.Findings[i], want)
		}
	}
	// the others are judged
	r.PDUs[1].Health, r.Chassis[0].State = "Critical", "Off"
	if j := g.Judge(look(t, s, p, r, nil)); j.Verdict != check.Failed || len(j.Findings) < 2 || j.Findings[0].Suspect != "pdu-b" || j.Findings[1].Suspect != "gpu-01" {
		t.Errorf("%+v", j)
	}
}

// A host on standby draws power for its controller: a chassis was on with the first watt.
func TestAChassisWithoutAPowerStateIsUnobserved(t *testing.T) {
	t.Parallel()
	s, p := room()
	r := reading()
	r.Chassis[0].State, r.Chassis[0].Watts = "", 95
	j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, r, nil))
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" || !strings.Contains(j.Findings[0].Message, "standby") {
		t.Errorf("%+v", j)
	}
}

// A chassis whose controller has no number of watts, such as one that is starting, drew none.
func TestAChassisWithoutADraw(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]struct {
		verdict check.Verdict
		message string
	}{
		"On":  {check.Unobserved, "shows no draw"},
		"":    {check.Unobserved, "shows no draw"},
		"Off": {check.Failed, "not switched on: its power state is Off"},
	} {
		s, p := room()
		r := reading()
		r.Chassis[0].State, r.Chassis[0].Watts, r.Chassis[0].Unmetered = state, 0, true
		j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, r, nil))
		if j.Verdict != want.verdict || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" || !strings.Contains(j.Findings[0].Message, want.message) {
			t.Errorf("%q: %+v", state, j)
		}
	}
}

func TestADefectOutweighsWhatWasNotSeen(t *testing.T) {
	t.Parallel()
	s, p := room()
	s.Facility.SignOff.By = ""
	j := facility.New(s, p, facility.Deps{}).Judge(look(t, s, p, redfish.Reading{}, errors.New("no route to host")))
	if j.Verdict != check.Failed || len(j.Findings) != 2 {
		t.Errorf("%+v", j)
	}
}

func TestObserveStopsWhenNothingCanBeKept(t *testing.T) {
	t.Parallel()
	s, p := room()
	full := errors.New("disk full")
	if err := facility.New(s, p, facility.Deps{}).Observe(t.Context(), &book{fail: full}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}
