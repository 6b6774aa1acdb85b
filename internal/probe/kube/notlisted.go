package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// NotListedError names resources that the account may neither list nor create now. A run may have
// created objects of them while it had the permission.
type NotListedError struct{ Resources []string }

func (e *NotListedError) Error() string {
	return fmt.Sprintf("cannot list %s: the account may neither list nor create them now; objects that the run created with other permissions remain", strings.Join(e.Resources, ", "))
}

// NotListed separates the NotListedError of Cleanup from its other errors.
func NotListed(err error) (notListed *NotListedError, rest error) {
	return separate[*NotListedError](err)
}

// separate takes the error of a type out of joined errors.
func separate[T error](err error) (found T, rest error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return found, err
	}
	var others []error
	for _, e := range joined.Unwrap() {
		if is, ok := e.(T); ok { //nolint:errorlint // as Cleanup returns it
			found = is
			continue
		}
		others = append(others, e)
	}
	return found, errors.Join(others...)
}

// mayNotCreate records a kind that the account may neither list nor create, if the cluster serves it.
// If the account may create it, the result has forbidden, the error of the list.
func (c *Cluster) mayNotCreate(ctx context.Context, k kind, forbidden error) error {
	if created, reviewErr := c.mayCreate(ctx, k); created || reviewErr != nil {
		return errors.Join(forbidden, reviewErr)
	}
	if c.unlisted == nil {
		return forbidden
	}
	if c.unlisted[k.resource] {
		return nil
	}
	// A request for a resource that does not exist is forbidden, too.
	list, err := c.Client.Discovery().ServerResourcesForGroupVersion(k.resource.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return errors.Join(forbidden, fmt.Errorf("discover %s: %w", k.resource.GroupVersion(), err))
	}
	for i := range list.APIResources {
		if list.APIResources[i].Name == k.resource.Resource {
			c.unlisted[k.resource] = true
		}
	}
	return nil
}

// notListed is a NotListedError with the recorded kinds; nil without one.
func (c *Cluster) notListed() error {
	var out []string
	for r := range c.unlisted {
		out = append(out, r.GroupResource().String())
	}
	if len(out) == 0 {
		return nil
	}
	slices.Sort(out)
	return &NotListedError{Resources: slices.Compact(out)}
}
