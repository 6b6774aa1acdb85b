package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// objects is the client of a kind in all namespaces that runs use.
func (c *Cluster) objects(k kind) dynamic.ResourceInterface {
	if k.global {
		return c.Dynamic.Resource(k.resource)
	}
	return c.Dynamic.Resource(k.resource).Namespace(c.Namespace)
}

// listLabelled lists the objects of a kind that selector matches, in all namespaces that
// runs use; the list is empty when the cluster does not serve the kind.
func (c *Cluster) listLabelled(ctx context.Context, k kind, selector string) (*unstructured.UnstructuredList, error) {
	list, err := c.objects(k).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if apierrors.IsNotFound(err) {
		return &unstructured.UnstructuredList{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", k.resource.Resource, selector, err)
	}
	return list, nil
}

// listCreated is listLabelled. Without permission to list a kind, the list is empty if the account
// cannot create objects of it now, and the kind counts as not listed (see notListed).
func (c *Cluster) listCreated(ctx context.Context, k kind, selector string) (*unstructured.UnstructuredList, error) {
	list, err := c.listLabelled(ctx, k, selector)
	if !apierrors.IsForbidden(err) {
		return list, err
	}
	if err := c.mayNotCreate(ctx, k, err); err != nil {
		return nil, err
	}
	return &unstructured.UnstructuredList{}, nil
}

// mayCreate reports whether the user can create objects of a kind, directly or through
// another kind.
func (c *Cluster) mayCreate(ctx context.Context, k kind) (bool, error) {
	for _, source := range k.sources() {
		if allowed, err := c.reviewCreate(ctx, source); allowed || err != nil {
			return allowed, err
		}
	}
	return false, nil
}

func (c *Cluster) reviewCreate(ctx context.Context, k kind) (bool, error) {
	if allowed, known := c.reviewed[k.resource]; known {
		return allowed, nil
	}
	asked := &authorizationv1.ResourceAttributes{Verb: "create", Group: k.resource.Group, Version: k.resource.Version, Resource: k.resource.Resource}
	if !k.global {
		asked.Namespace = c.Namespace
	}
	review, err := c.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx,
		&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: asked}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("review the permission to create %s: %w", k.resource.Resource, err)
	}
	if c.reviewed != nil {
		c.reviewed[k.resource] = review.Status.Allowed
	}
	return review.Status.Allowed, nil
}

// deleteLabelled requests the deletion of every object of a kind that selector matches, except those that
// stay; nil: none stays.
func (c *Cluster) deleteLabelled(ctx context.Context, k kind, selector string, stays func(*unstructured.Unstructured) bool) error {
	list, err := c.listWithout(ctx, k, selector, stays)
	if err != nil {
		return err
	}
	return c.deleteAll(ctx, k, list)
}

// deleteAll requests the deletion of every object of a list.
func (c *Cluster) deleteAll(ctx context.Context, k kind, list *unstructured.UnstructuredList) error {
	background := metav1.DeletePropagationBackground
	var problems []error
	for i := range list.Items {
		o := &list.Items[i]
		uid := o.GetUID()
		err := c.Dynamic.Resource(k.resource).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{
			PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			problems = append(problems, fmt.Errorf("delete %s %s: %w", k.name, o.GetName(), err))
		}
	}
	return errors.Join(problems...)
}

// listWithout is listCreated without the objects that stay.
func (c *Cluster) listWithout(ctx context.Context, k kind, selector string, stays func(*unstructured.Unstructured) bool) (*unstructured.UnstructuredList, error) {
	list, err := c.listCreated(ctx, k, selector)
	if err == nil && stays != nil {
		list.Items = slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool { return stays(&o) })
	}
	return list, err
}

// waitNone waits until selector matches no object of a kind, except those that stay.
func (c *Cluster) waitNone(ctx context.Context, k kind, selector string, stays func(*unstructured.Unstructured) bool) error {
	var left []unstructured.Unstructured
	err := waitUntilEmpty(ctx, "the end of "+k.resource.Resource, func(ctx context.Context) (int, error) {
		list, err := c.listWithout(ctx, k, selector, stays)
		if err != nil {
			return 0, err
		}
		left = list.Items
		return len(left), nil
	})
	if err != nil && len(left) > 0 {
		return fmt.Errorf("remove %d %s of %s, %s first: %w", len(left), k.resource.Resource, selector, remaining(&left[0]), err)
	}
	return err
}

// remaining names an object and its finalizers.
func remaining(o *unstructured.Unstructured) string {
	text := o.GetName()
	if o.GetNamespace() != "" {
		text = o.GetNamespace() + "/" + text
	}
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		text += " with finalizers " + strings.Join(finalizers, ", ")
	}
	return text
}
