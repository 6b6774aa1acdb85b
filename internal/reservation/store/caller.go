package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// caller caches what the API server says about the user of a Kube.
type caller struct {
	mu       sync.Mutex
	user     string
	operates map[string]bool // by reservation
}

// Caller returns the name of the authenticated user of this process. It is requested once.
func (k *Kube) Caller(ctx context.Context) (string, error) {
	k.caller.mu.Lock()
	defer k.caller.mu.Unlock()
	if k.caller.user != "" {
		return k.caller.user, nil
	}
	var review authenticationv1.SelfSubjectReview
	if err := k.client.Create(ctx, &review); err != nil {
		return "", fmt.Errorf("cannot read the name of the caller: %w", err)
	}
	if review.Status.UserInfo.Username == "" {
		return "", errors.New("cannot read the name of the caller: the API server returned none")
	}
	k.caller.user = review.Status.UserInfo.Username
	return k.caller.user, nil
}

// Operates reports whether that user has the verb operate on a reservation, which allows changes
// to the leases of others. It is requested once per reservation.
func (k *Kube) Operates(ctx context.Context, name string) (bool, error) {
	k.caller.mu.Lock()
	defer k.caller.mu.Unlock()
	if is, asked := k.caller.operates[name]; asked {
		return is, nil
	}
	var review authorizationv1.SelfSubjectAccessReview
	review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Group: GroupVersion.Group, Resource: reservations, Verb: "operate", Name: name}
	if err := k.client.Create(ctx, &review); err != nil {
		return false, fmt.Errorf("cannot check the verb operate on reservation %s: %w", name, err)
	}
	if k.caller.operates == nil {
		k.caller.operates = map[string]bool{}
	}
	k.caller.operates[name] = review.Status.Allowed
	return review.Status.Allowed, nil
}
