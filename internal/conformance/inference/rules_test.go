package inference

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of routes at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	c := aCheck()
	checktest.Rules(t, c.Judge, goodStory(c).observations(t), []checktest.Rule{
		checktest.When("a gateway that had no time to settle is unknown", checktest.Set(kindPath, `.settled`, false), checktest.Set(kindPath, `.rounds`, settleRounds-1)).Unobserved("gateway", "too few"),
		checktest.When("a gateway that had time is judged by its answers", checktest.Set(kindPath, `.settled`, false)).Passes(),
		checktest.When("a gateway that had time and answers otherwise fails", checktest.Set(kindPath, `.settled`, false), checktest.Set(kindRequests+"@"+toNoRoute, `.answers[0].status`, 200)).Fails("gateway "+gatewayName, "must return 404"),
		checktest.When("a route is an object of the cluster", checktest.Set(kindRoute+"@"+routeSplit, `.uid`, "")).Unobserved("", ""),
	})
}
