package kube

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
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

// deleteLabelled requests the deletion of every object of a kind that selector matches.
// Without permission to list a kind the run created no object of it.
func (c *Cluster) deleteLabelled(ctx context.Context, k kind, selector string) error {
	list, err := c.listLabelled(ctx, k, selector)
	if apierrors.IsForbidden(err) {
		return nil
	}
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	for i := range list.Items {
		o := &list.Items[i]
		uid := o.GetUID()
		err := c.Dynamic.Resource(k.resource).Namespace(o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{
			PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
		})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("delete %s %s: %w", k.name, o.GetName(), err)
		}
	}
	return nil
}

// waitNone waits until selector matches no object of a kind.
func (c *Cluster) waitNone(ctx context.Context, k kind, selector string) error {
	var left []unstructured.Unstructured
	err := waitUntilEmpty(ctx, func(ctx context.Context) (int, string, error) {
		list, err := c.listLabelled(ctx, k, selector)
		if apierrors.IsForbidden(err) {
			return 0, "", nil
		}
		if err != nil {
			return 0, "", err
		}
		left = list.Items
		return len(left), list.GetResourceVersion(), nil
	}, func(ctx context.Context, resourceVersion string) (watch.Interface, error) {
		return c.objects(k).Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: resourceVersion})
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
