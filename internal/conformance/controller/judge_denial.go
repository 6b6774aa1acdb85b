package controller

import (
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// denied requires that the webhook denies what the schema cannot deny.
func (j *judge) denied(hook webhookFigures) {
	f, id, ok := j.denial(targetInvalid)
	if !ok {
		return
	}
	suspect := "webhook " + j.operator.Webhook
	remedy := "install the ValidatingWebhookConfiguration of " + j.operator.Title + " and see that its rules cover " + j.operator.Resource.Resource
	switch {
	case f.Admitted:
		j.Fail(id, suspect, remedy, "an invalid resource (%s) was admitted", f.Why)
	case bySchema(f):
		j.Fail(id, suspect, again, "the schema, not the webhook, denied the invalid resource, which shows nothing of the webhook: %s", f.Message)
	case strings.Contains(f.Message, "failed calling webhook"):
		j.Fail(id, suspect, "see that the Service of the webhook selects its controller, and that its caBundle matches its certificate", "the API server could not call it: %s", f.Message)
	case !byWebhook(f, j.operator.Webhook):
		j.Fail(id, suspect, remedy, "the denial (%d %s) is not from it: %s", f.Code, f.Reason, f.Message)
	case hook.Found:
		j.show("%s denies an invalid resource (%s): %d %s", j.operator.Webhook, f.Why, f.Code, f.Reason)
	}
}

// misshapen requires that the schema denies what it forbids, in another form than a webhook's
// denial.
func (j *judge) misshapen() {
	f, id, ok := j.denial(targetMisshapen)
	if !ok {
		return
	}
	switch {
	case f.Admitted:
		j.Fail(id, "definition "+j.operator.Definitions[0], "install the definitions of "+j.operator.Title+" unaltered", "its schema admits a resource that it must deny (%s)", f.Why)
	case !bySchema(f):
		j.Unobserved(id, "definition "+j.operator.Definitions[0], again, "the denial is not from the schema, so it cannot be distinguished from the webhook's: %s", f.Message)
	default:
		j.show("the schema denies a malformed resource (%s): %d %s, %d causes", f.Why, f.Code, f.Reason, len(f.Causes))
	}
}

func (j *judge) denial(target string) (f denialFigures, id string, ok bool) {
	return require[denialFigures](j, kindDenial, target, "the answer to the resource "+target)
}

// bySchema reports whether the API server itself found the object invalid, field by field.
func bySchema(f denialFigures) bool {
	return f.Code == http.StatusUnprocessableEntity && f.Reason == string(metav1.StatusReasonInvalid) && len(f.Causes) > 0 &&
		!strings.Contains(f.Message, "admission webhook")
}

// byWebhook reports whether the API server names this webhook as the cause of the denial.
func byWebhook(f denialFigures, name string) bool {
	return f.Code >= http.StatusBadRequest && f.Code < http.StatusInternalServerError &&
		strings.Contains(f.Message, fmt.Sprintf("admission webhook %q denied the request", name))
}
