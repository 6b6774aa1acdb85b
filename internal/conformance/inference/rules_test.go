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
		checktest.When("a route is an object of the cluster", checktest.Set(kindRoute+"@"+routeSplit, `.uid`, "")).Unobserved("", ""),
	})
}
