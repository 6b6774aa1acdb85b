package servicemetrics

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of a service's metrics at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, theCheck(t).Judge, healthy().observations(t), []checktest.Rule{
		checktest.When("the writer of the mark is known", checktest.Set(kindMark, `.by`, "")).Unobserved("", ""),
		checktest.When("the series is of the pod's namespace", checktest.Set(kindWatch+"@"+marked, `.series[0].namespace`, "other")).Fails("Prometheus", "the series of pod"),
		checktest.When("the metric is of the pod's namespace", checktest.Set(kindServed+"@"+idle, `.namespace`, "other")).Fails("", ""),
		checktest.When("no more runs than was sent", checktest.Set(kindRequests, `.prometheus`, 8)).Fails("", ""),
		checktest.When("no more is served than was sent", checktest.Set(kindRequests, `.api`, 8)).Fails("", ""),
		checktest.When("without its mark the series goes", checktest.Set(kindWatch+"@"+again, `.gone`, checktest.LeftOut)).Fails("", ""),
		checktest.When("one poll is not a watch", checktest.Set(kindWatch+"@"+again, `.looks`, 1)).Unobserved("", ""),
	})
}
