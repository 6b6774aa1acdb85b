// Package served finds kinds that are not Kubernetes' own by what the API server says
// that it serves, in whatever version.
package served

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Find is the resource in the version that the API server prefers; false when it serves
// no such group, or the group has no such resource.
func Find(ctx context.Context, cluster *kube.Cluster, group, resource string) (schema.GroupVersionResource, bool, error) {
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
