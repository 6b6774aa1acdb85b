package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// caller is what the API server says of the user of a Kube: asked once.
type caller struct {
	mu       sync.Mutex
	user     string
	operates map[string]bool // reservations, of those that were asked about
}

// Caller is the name of the user that the API server authenticates this process as. It is
// asked once.
func (k *Kube) Caller(ctx context.Context) (string, error) {
	k.caller.mu.Lock()
	defer k.caller.mu.Unlock()
	if k.caller.user != "" {
		return k.caller.user, nil
	}
	var review authenticationv1.SelfSubjectReview
	review.APIVersion, review.Kind = "authentication.k8s.io/v1", "SelfSubjectReview"
	if err := k.createReview(ctx, "selfsubjectreviews", &review); err != nil {
		return "", fmt.Errorf("ask the API server for the name of its caller: %w", err)
	}
	if review.Status.UserInfo.Username == "" {
		return "", errors.New("ask the API server for the name of its caller: the answer has none")
	}
	k.caller.user = review.Status.UserInfo.Username
	return k.caller.user, nil
}

// Operates tells whether that user has the verb operate on a reservation: operators may
// change leases of others. It is asked once for each reservation.
func (k *Kube) Operates(ctx context.Context, name string) (bool, error) {
	k.caller.mu.Lock()
	defer k.caller.mu.Unlock()
	if is, asked := k.caller.operates[name]; asked {
		return is, nil
	}
	var review authorizationv1.SelfSubjectAccessReview
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Group: GroupVersion.Group, Resource: reservations, Verb: "operate", Name: name}
	if err := k.createReview(ctx, "selfsubjectaccessreviews", &review); err != nil {
		return false, fmt.Errorf("ask the API server who operates reservation %s: %w", name, err)
	}
	if k.caller.operates == nil {
		k.caller.operates = map[string]bool{}
	}
	k.caller.operates[name] = review.Status.Allowed
	return review.Status.Allowed, nil
}

// ask creates a review, and reads the answer into it.
func (k *Kube) createReview(ctx context.Context, resource string, review runtime.Object) error {
	raw, err := json.Marshal(review)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it was doing
	}
	version := review.GetObjectKind().GroupVersionKind().GroupVersion()
	result := k.client.Post().AbsPath("/apis", version.Group, version.Version, resource).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(raw).Do(ctx)
	if err := result.Error(); err != nil { // in the API server's own words
		return err //nolint:wrapcheck // the caller says what it was doing
	}
	if raw, err = result.Raw(); err != nil {
		return err //nolint:wrapcheck // the caller says what it was doing
	}
	return json.Unmarshal(raw, review) //nolint:wrapcheck // the caller says what it was doing
}
