package workload

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"

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
