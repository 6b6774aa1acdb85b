package fabric_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// What a fabric must show, one field at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, judge, look(t, newSubnet()), []checktest.Rule{
		checktest.When("ibdiagnet counts all nodes", checktest.Set("ibdiagnet", `.totalNodes`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("ibdiagnet counts the switches", checktest.Set("ibdiagnet", `.switches`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("ibdiagnet counts the adapters", checktest.Set("ibdiagnet", `.channelAdapters`, checktest.LeftOut)).Unobserved("ibdiagnet", "no fabric summary"),
		checktest.When("a switch too few is missing", checktest.Set("ibdiagnet", `.switches`, 2)).Fails("fabric", "2 switches and 4 adapters, the site expects 3 and 4"),
		checktest.When("a switch too many is foreign", checktest.Set("ibdiagnet", `.switches`, 4)).Fails("fabric", "4 switches and 4 adapters"),
	})
}
