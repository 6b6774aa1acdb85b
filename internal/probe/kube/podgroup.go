package kube

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// podGroupProtection is the finalizer that keeps a PodGroup while pods of it
// live. Its controller runs only where the controller manager has the feature
// too; where only the API server and the scheduler have it, nobody takes the
// finalizer off, and neither the PodGroup nor its namespace ever goes away.
const podGroupProtection = "scheduling.k8s.io/podgroup-protection"

// PodGroups is the resource of Kubernetes' own gangs.
func PodGroups() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups"}
}

// ReleasePodGroups deletes the PodGroups of a run in a namespace and takes the
// protection off them. It is for when none of their pods is left: then the
// protection's own condition is met, whoever is there to see it.
func (c *Cluster) ReleasePodGroups(ctx context.Context, namespace, runID string) error {
	groups := c.Dynamic.Resource(PodGroups()).Namespace(namespace)
	list, err := groups.List(ctx, metav1.ListOptions{LabelSelector: LabelRun + "=" + runID})
	if apierrors.IsNotFound(err) {
		return nil // the cluster has no such kind
	}
	if err != nil {
		return fmt.Errorf("list pod groups of %s: %w", namespace, err)
	}
	for _, g := range list.Items {
		err := groups.Delete(ctx, g.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete pod group %s/%s: %w", namespace, g.GetName(), err)
		}
		if err := c.ReleasePodGroup(ctx, namespace, g.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// ReleasePodGroup takes the protection off one PodGroup that is being deleted.
func (c *Cluster) ReleasePodGroup(ctx context.Context, namespace, name string) error {
	groups := c.Dynamic.Resource(PodGroups()).Namespace(namespace)
	g, err := groups.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pod group %s/%s: %w", namespace, name, err)
	}
	if g.GetDeletionTimestamp() == nil || !slices.Contains(g.GetFinalizers(), podGroupProtection) {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"finalizers":null}}`, g.GetResourceVersion())
	_, err = groups.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("take the protection off pod group %s/%s: %w", namespace, name, err)
	}
	return nil
}
