package recommended

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// discover finds a resource in the version that the API server prefers; false where the
// group is not served, or has no such resource.
func discover(ctx context.Context, cluster *kube.Cluster, group, resource string) (schema.GroupVersionResource, bool, error) {
	var g metav1.APIGroup
	client := cluster.Client.Discovery().RESTClient()
	err := client.Get().AbsPath("/apis/" + group).Do(ctx).Into(&g)
	if apierrors.IsNotFound(err) {
		return schema.GroupVersionResource{}, false, nil
	}
	if err != nil {
		return schema.GroupVersionResource{}, false, fmt.Errorf("read API group %s: %w", group, err)
	}
	versions := append([]metav1.GroupVersionForDiscovery{g.PreferredVersion}, g.Versions...)
	for _, v := range versions {
		var list metav1.APIResourceList
		if err := client.Get().AbsPath("/apis/" + v.GroupVersion).Do(ctx).Into(&list); err != nil {
			return schema.GroupVersionResource{}, false, fmt.Errorf("read API %s: %w", v.GroupVersion, err)
		}
		for _, r := range list.APIResources {
			if r.Name == resource {
				return schema.GroupVersionResource{Group: group, Version: v.Version, Resource: resource}, true, nil
			}
		}
	}
	return schema.GroupVersionResource{}, false, nil
}

// hasCondition reports whether a status has a condition that is True.
func hasCondition(status map[string]any, name string) bool {
	all, _, _ := unstructured.NestedSlice(status, "conditions")
	return slices.ContainsFunc(all, func(raw any) bool {
		c, ok := raw.(map[string]any)
		return ok && c["type"] == name && c["status"] == string(metav1.ConditionTrue)
	})
}

func podReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// inventoryNodes lists the nodes with the given names.
func inventoryNodes(ctx context.Context, cluster *kube.Cluster, names []string) ([]corev1.Node, error) {
	list, err := cluster.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(n corev1.Node) bool { return !slices.Contains(names, n.Name) }), nil
}
