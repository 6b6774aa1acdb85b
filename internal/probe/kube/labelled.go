package kube

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// objects are those of a kind, in all namespaces that runs use.
func (c *Cluster) objects(k kind) dynamic.ResourceInterface {
	if k.global {
		return c.Dynamic.Resource(k.resource)
	}
	return c.Dynamic.Resource(k.resource).Namespace(c.Namespace)
}

// listLabelled lists the objects of a kind that selector chooses, in all
// namespaces that runs use; none where the cluster does not have the kind.
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

// deleteLabelled asks for the deletion of every object of a kind that selector
// chooses. A kind that may not be listed was not created from here either.
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

// awaitNone waits until no object of a kind is left that selector chooses.
func (c *Cluster) awaitNone(ctx context.Context, k kind, selector string) error {
	for {
		list, err := c.listLabelled(ctx, k, selector)
		if apierrors.IsForbidden(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return nil
		}
		w, err := c.objects(k).Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			return fmt.Errorf("watch %s of %s: %w", k.resource.Resource, selector, err)
		}
		select {
		case <-w.ResultChan():
			w.Stop()
		case <-ctx.Done():
			w.Stop()
			return fmt.Errorf("%d %s of %s are still there, %s: %w", len(list.Items), k.resource.Resource, selector, lingering(&list.Items[0]), ctx.Err())
		}
	}
}

// lingering names an object and what keeps it.
func lingering(o *unstructured.Unstructured) string {
	text := o.GetName()
	if o.GetNamespace() != "" {
		text = o.GetNamespace() + "/" + text
	}
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		text += " with the finalizers " + strings.Join(finalizers, ", ")
	}
	return text
}
