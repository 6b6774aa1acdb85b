package controller

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// denied: what only the webhook can know to be wrong is denied, by it.
func (j judge) denied(hook webhookFigures) {
	o, seen, ok := j.denial(targetInvalid)
	if !ok {
		return
	}
	suspect := "webhook " + j.operator.Webhook
	remedy := "install the ValidatingWebhookConfiguration of " + j.operator.Title + " and see that its rules cover " + j.operator.Resource.Resource
	switch {
	case seen.Admitted:
		j.fail(o, suspect, "nobody denies a resource that is wrong ("+seen.Why+"): it was admitted", remedy)
	case bySchema(seen):
		j.fail(o, suspect, "the schema denied what is for the webhook to deny, which shows nothing of the webhook: "+seen.Message, again)
	case strings.Contains(seen.Message, "failed calling webhook"):
		j.fail(o, suspect, "it could not be asked: "+seen.Message, "see that the Service of the webhook leads to its controller, and that its caBundle is its certificate's")
	case !byWebhook(seen, j.operator.Webhook):
		j.fail(o, suspect, fmt.Sprintf("the denial (%d %s) is not its: %s", seen.Code, seen.Reason, seen.Message), remedy)
	case hook.Found:
		j.show("%s denies what is wrong (%s): %d %s", j.operator.Webhook, seen.Why, seen.Code, seen.Reason)
	}
}

// misshapen: what the schema forbids is denied by the schema, and that looks other
// than a webhook's denial.
func (j judge) misshapen() {
	o, seen, ok := j.denial(targetMisshapen)
	if !ok {
		return
	}
	switch {
	case seen.Admitted:
		j.fail(o, "definition "+j.operator.Definitions[0], "its schema takes what it must not ("+seen.Why+")", "install the definitions of "+j.operator.Title+" unaltered")
	case !bySchema(seen):
		j.missing(o, "definition "+j.operator.Definitions[0], "no denial by the schema was seen that the webhook's could be told from: "+seen.Message, again)
	default:
		j.show("the schema denies what is misshapen (%s): %d %s, %d causes", seen.Why, seen.Code, seen.Reason, len(seen.Causes))
	}
}

func (j judge) denial(target string) (o check.Observation, seen denialFigures, ok bool) {
	return one[denialFigures](j.conclusions, j.obs, kindDenial, target, "the answer to the resource "+target)
}

// bySchema: the API server itself found it invalid, field by field.
func bySchema(f denialFigures) bool {
	return f.Code == http.StatusUnprocessableEntity && f.Reason == string(metav1.StatusReasonInvalid) && len(f.Causes) > 0 &&
		!strings.Contains(f.Message, "admission webhook")
}

// byWebhook: the API server says that this webhook denied it.
func byWebhook(f denialFigures, name string) bool {
	return f.Code >= http.StatusBadRequest && f.Code < http.StatusInternalServerError &&
		strings.Contains(f.Message, fmt.Sprintf("admission webhook %q denied the request", name))
}
