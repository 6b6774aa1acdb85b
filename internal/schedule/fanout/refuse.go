package fanout

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refused is the error of a run that the cluster rejected; nothing of it runs.
type Refused struct {
	// The failed step (What) and its remedy.
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

// Unwrap returns the API error.
func (r *Refused) Unwrap() error { return r.Err }

// refusedBy converts a rejection by the API server to a Refused.
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
