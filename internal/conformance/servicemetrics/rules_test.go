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
		checktest.When("a value that was read too rarely is unknown", checktest.Set(kindRequests, `.prometheus`, 0), checktest.Set(kindRequests, `.reads`, minQueries-1)).Unobserved("custom.metrics.k8s.io", "too few"),
		checktest.When("an adapter that was read too rarely is unknown", checktest.Set(kindRequests, `.api`, 0), checktest.Set(kindRequests, `.reads`, minQueries-1)).Unobserved("custom.metrics.k8s.io", "too few"),
		checktest.When("an adapter that was read often must follow", checktest.Set(kindRequests, `.api`, 0), checktest.Set(kindRequests, `.reads`, minQueries)).Fails("custom.metrics.k8s.io", "it does not follow"),
		checktest.When("a series that was queried too rarely is unknown", checktest.Set(kindWatch+"@"+marked, `.series`, []any{}), checktest.Set(kindWatch+"@"+marked, `.looks`, minQueries-1)).Unobserved("Prometheus", "too few"),
		checktest.When("a series that was queried with long gaps is unknown", checktest.Set(kindWatch+"@"+marked, `.series`, []any{}), checktest.Set(kindWatch+"@"+marked, `.to`, at(160+91))).Unobserved("Prometheus", "too few"),
		checktest.When("a series that was queried often must come", checktest.Set(kindWatch+"@"+marked, `.series`, []any{}), checktest.Set(kindWatch+"@"+marked, `.to`, at(160+90))).Fails("Prometheus", "it has no series"),
		checktest.When("an end that was queried too rarely is unknown", checktest.Set(kindWatch+"@"+again, `.gone`, checktest.LeftOut), checktest.Set(kindWatch+"@"+again, `.looks`, minQueries-1)).Unobserved("Prometheus", "too few"),
		checktest.When("without its mark the series goes", checktest.Set(kindWatch+"@"+again, `.gone`, checktest.LeftOut)).Fails("", ""),
		checktest.When("one poll is not a watch", checktest.Set(kindWatch+"@"+again, `.looks`, 1)).Unobserved("", ""),
	})
}
