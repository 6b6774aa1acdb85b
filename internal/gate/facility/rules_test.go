package facility_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/facility"
	"github.com/firstlight/firstlight/internal/plan"
)

// TestRules covers the requirements on a facility, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	s, p := room()
	g := facility.New(s, p, facility.Deps{})
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, look(t, s, p, reading(), nil), []checktest.Rule{
		checktest.When("a sign-off has a date", checktest.Set("site-facility", `.signOff.at`, "soon")).Fails("site facility.signOff", ""),
		checktest.When("a PDU says what its mains are", checktest.Set("redfish-power", `.pdus[1].mains`, []string{})).Unobserved("pdu-b", "reports no mains"),
		checktest.When("one dead feed is a PDU that is not energised", checktest.Set("redfish-power", `.pdus[0].mains[1]`, "Off")).Fails("pdu-a", "not energised"),
		checktest.When("the first watt of a chassis without a power state is power", checktest.Set("redfish-power", `.chassis[0].state`, ""), checktest.Set("redfish-power", `.chassis[0].watts`, 1)).Unobserved("gpu-01", "draws 1 W"),
		checktest.When("the first watt of a chassis that is off is standby", checktest.Set("redfish-power", `.chassis[0].state`, "Off"), checktest.Set("redfish-power", `.chassis[0].watts`, 1)).Fails("gpu-01", "is not switched on"),
	})
}
