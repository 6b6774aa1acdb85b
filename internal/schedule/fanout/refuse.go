package fanout

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refused is a run that the cluster would not have; nothing of it is left running.
type Refused struct {
	// What could not be done, and what to do about it.
	What, Remedy string
	Err          error
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("%s: %s", r.What, r.Err)
	if r.Remedy != "" {
		text += "\n" + r.Remedy
	}
	return text
}

// Unwrap is the API's own error.
func (r *Refused) Unwrap() error { return r.Err }

// refusedBy classifies an error of the API: an answer, or trouble on the way to it.
func refusedBy(err error, what, remedy string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsUnauthorized(err),
		apierrors.IsNotFound(err), apierrors.IsRequestEntityTooLargeError(err), apierrors.IsMethodNotSupported(err):
		return &Refused{What: what, Remedy: remedy, Err: err}
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}
