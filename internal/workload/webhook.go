package workload

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// unanswered matches the API server's message that it could not call an admission webhook, by its
// name, or the conversion webhook of a kind, and the webhook's Service.
var unanswered = regexp.MustCompile(`(?:failed calling webhook "([^"]+)"|conversion webhook for \S+, Kind=(\w+) failed): .*https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc`)

// Webhook is the webhook that did not answer the request which failed with err, with its Service;
// empty for another error.
func Webhook(err error) string {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.Status().Code != http.StatusInternalServerError {
		return ""
	}
	m := unanswered.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	return "webhook " + cmp.Or(m[1], "for conversion of "+m[2]) + " of service " + m[4] + "/" + m[3]
}

// tooEarly reports whether an admission webhook denied an object because it does not yet know one
// that the gang has created: webhooks read from a cache. Kubeflow Trainer does so to a TrainJob that
// follows its TrainingRuntime at once.
func tooEarly(err error, created []objectRef) bool {
	return err != nil && strings.Contains(err.Error(), "denied the request") && slices.ContainsFunc(created, func(o objectRef) bool {
		return strings.Contains(err.Error(), fmt.Sprintf("%q not found", o.name))
	})
}
