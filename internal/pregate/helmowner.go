package pregate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// object identifies an object of a release.
type object struct {
	kind schema.GroupKind
	name string
}

// objects are those of the release's manifest and of its hooks.
func (r *release) objects(s *session) (map[object]bool, error) {
	rel, err := last(s.Configuration, r.spec.Release)
	if err != nil {
		return nil, err
	}
	manifests := []string{rel.Manifest}
	for _, h := range rel.Hooks {
		manifests = append(manifests, h.Manifest)
	}
	out := map[object]bool{}
	for _, m := range manifests {
		decoded, err := decode(m)
		if err != nil {
			return nil, err
		}
		for _, o := range decoded {
			out[object{o.GroupVersionKind().GroupKind(), o.GetName()}] = true
		}
	}
	return out, nil
}

// maxOwners limits the owners that are followed: a pod, its ReplicaSet, Deployment and custom resource, and twice as many.
const maxOwners = 8

// createdFor reports whether a pod is in objects, or was created by their controllers.
func createdFor(ctx context.Context, objects map[object]bool, p *corev1.Pod, get func(context.Context, metav1.OwnerReference) (metav1.Object, error)) bool {
	if objects[object{schema.GroupKind{Kind: "Pod"}, p.Name}] {
		return true
	}
	var o metav1.Object = p
	for range maxOwners {
		ref := metav1.GetControllerOf(o)
		if ref == nil {
			return false
		}
		if objects[object{schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Name}] {
			return true
		}
		var err error
		if o, err = get(ctx, *ref); err != nil {
			return false
		}
	}
	return false
}

// getOwner reads the owner that an object refers to.
func getOwner(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, ref metav1.OwnerReference, namespace string) (metav1.Object, error) {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return client.Resource(mapping.Resource).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	}
	return client.Resource(mapping.Resource).Get(ctx, ref.Name, metav1.GetOptions{})
}
