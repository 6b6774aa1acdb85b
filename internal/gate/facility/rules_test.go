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
		checktest.When("each feed of a PDU says whether it is on", checktest.Set("redfish-power", `.pdus[0].mains[1]`, "")).Unobserved("pdu-a", "does not report whether"),
		checktest.When("a feed that is off outweighs one that does not say", checktest.Set("redfish-power", `.pdus[0].mains`, []string{"", "Off"})).Fails("pdu-a", "not energised"),
		checktest.When("a PDU without a state is not known to be off", checktest.Set("redfish-power", `.pdus[0].state`, "")).Unobserved("pdu-a", "does not report whether"),
		checktest.When("a PDU is listed once", checktest.Set("redfish-power", `.pdus[0]`, checktest.Twice)).Unobserved("pdu-a", "lists PDU pdu-a 2 times"),
		checktest.When("a chassis is listed once", checktest.Set("redfish-power", `.chassis[0]`, checktest.Twice)).Unobserved("gpu-01", "lists chassis gpu-01 2 times"),
		checktest.When("a chassis that the controller does not list is missing", checktest.Set("redfish-power", `.chassis`, []int{})).Fails("gpu-01", "does not list chassis gpu-01"),
		checktest.When("the reading is of the controller", checktest.Set("redfish-power", `.controller`, "rack-2")).Unobserved("controller rack-1", "rack-2"),
		checktest.When("the demand is that of every node", checktest.Set("site-facility", `.powerKW.demand`, 10)).Unobserved("site lab", "differ from the site"),
		checktest.When("the nodes are those of the inventory", checktest.Set("site-facility", `.nodes`, 1)).Unobserved("site lab", "differ from the site"),
		checktest.When("a reserve that was left out is not zero", checktest.Set("site-facility", `.coolingKW.reserve`, checktest.LeftOut)).Unobserved("site lab", "differ from the site"),
		checktest.When("one dead feed is a PDU that is not energised", checktest.Set("redfish-power", `.pdus[0].mains[1]`, "Off")).Fails("pdu-a", "not energised"),
		checktest.When("the first watt of a chassis without a power state is power", checktest.Set("redfish-power", `.chassis[0].state`, ""), checktest.Set("redfish-power", `.chassis[0].watts`, 1)).Unobserved("gpu-01", "draws 1 W"),
		checktest.When("the first watt of a chassis that is off is standby", checktest.Set("redfish-power", `.chassis[0].state`, "Off"), checktest.Set("redfish-power", `.chassis[0].watts`, 1)).Fails("gpu-01", "is not switched on"),
	})
}
