package kube

import (
	"cmp"
	"context"
	"errors"
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

// podGroupAlpha is the version of the API of upstream pod groups in Kubernetes 1.36, podGroupBeta that
// of 1.37, which does not serve the former.
const podGroupAlpha, podGroupBeta = "v1alpha2", "v1beta1"

// PodGroups is the resource of upstream Kubernetes pod groups of Kubernetes 1.36.
func PodGroups() schema.GroupVersionResource { return PodGroupsOf(podGroupAlpha) }

// PodGroupsOf is the resource of upstream Kubernetes pod groups in a version of its API; empty: that of
// PodGroups.
func PodGroupsOf(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: cmp.Or(version, podGroupAlpha), Resource: "podgroups"}
}

// PodGroupVersions are the versions of the API of upstream pod groups, the newest first.
func PodGroupVersions() []string { return []string{podGroupBeta, podGroupAlpha} }

// IsPodGroup reports whether r is the resource of upstream Kubernetes pod groups.
func IsPodGroup(r schema.GroupVersionResource) bool {
	return r.GroupResource() == PodGroups().GroupResource()
}

// ReleasePodGroups deletes the PodGroups of a run in a namespace and removes their
// protection finalizer. Call it when no pod of them exists, which is the condition under
// which the controller removes the finalizer.
func (c *Cluster) ReleasePodGroups(ctx context.Context, namespace, runID string) error {
	var problems []error
	for _, version := range PodGroupVersions() {
		problems = append(problems, c.releasePodGroups(ctx, PodGroupsOf(version), namespace, runID))
	}
	return errors.Join(problems...)
}

func (c *Cluster) releasePodGroups(ctx context.Context, r schema.GroupVersionResource, namespace, runID string) error {
	groups := c.Dynamic.Resource(r).Namespace(namespace)
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
		if err := c.ReleasePodGroup(ctx, r, namespace, g.GetName()); err != nil {
			return err
		}
	}
	return nil
}

// ReleasePodGroup removes the protection finalizer of a PodGroup that is being deleted. r is its resource
// in the version that the cluster serves.
func (c *Cluster) ReleasePodGroup(ctx context.Context, r schema.GroupVersionResource, namespace, name string) error {
	groups := c.Dynamic.Resource(r).Namespace(namespace)
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
