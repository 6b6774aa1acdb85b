package controller

import (
	"testing"

	"github.com/firstlight/firstlight/internal/checktest"
)

// TestRules changes one field of the observations of an operator at a time.
func TestRules(t *testing.T) {
	t.Parallel()
	checktest.Rules(t, newCheck(t).Judge, good().observations(t), []checktest.Rule{
		checktest.When("usage is read as it was recorded", checktest.Set(kindUsage, `["gpu-01"].requested`, 3.5)).Unobserved("the free GPUs", "could not be observed"),
		checktest.When("another code is not a denial by the schema", checktest.Set("denial@misshapen", `.code`, 400)).Unobserved("", "is not from the schema"),
		checktest.When("another reason is not a denial by the schema", checktest.Set("denial@misshapen", `.reason`, "BadRequest")).Unobserved("", "is not from the schema"),
		checktest.When("without causes there is no denial by the schema", checktest.Set("denial@misshapen", `.causes`, checktest.LeftOut)).Unobserved("", "is not from the schema"),
		checktest.When("an error of the server is not a denial by the webhook", checktest.Set("denial@invalid", `.code`, 500)).Fails("webhook validator.trainjob.trainer.kubeflow.org", "the denial (500 Forbidden) is not from it"),
		checktest.When("a success is not a denial by the webhook", checktest.Set("denial@invalid", `.code`, 200)).Fails("webhook validator.trainjob.trainer.kubeflow.org", "the denial (200 Forbidden) is not from it"),
		checktest.When("the least error of a client is a denial", checktest.Set("denial@invalid", `.code`, 400)).Passes(),
	})
}
