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

// podGroupProtection is the finalizer of a PodGroup with running pods. The controller that
// removes it runs only if the feature is enabled in the controller manager. If it is enabled
// only in the API server and the scheduler, no component removes the finalizer, and neither
// the PodGroup nor its namespace is ever deleted.
const podGroupProtection = "scheduling.k8s.io/podgroup-protection"

// PodGroups is the resource of upstream Kubernetes pod groups.
func PodGroups() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1alpha2", Resource: "podgroups"}
}

// ReleasePodGroups deletes the PodGroups of a run in a namespace and removes their
// protection finalizer. Call it when no pod of them exists, which is the condition under
// which the controller removes the finalizer.
func (c *Cluster) ReleasePodGroups(ctx context.Context, namespace, runID string) error {
	groups := c.Dynamic.Resource(PodGroups()).Namespace(namespace)
	list, err := groups.List(ctx, metav1.ListOptions{LabelSelector: LabelRun + "=" + runID})
	if apierrors.IsNotFound(err) {
		return nil // the cluster does not serve the kind
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

// ReleasePodGroup removes the protection finalizer of a PodGroup that is being deleted.
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
		return fmt.Errorf("remove the finalizer of pod group %s/%s: %w", namespace, name, err)
	}
	return nil
}
