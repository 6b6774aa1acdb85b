package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// plurals that are irregular.
var plurals = map[string]string{"GatewayParameters": "gatewayparameters"}

// Kinds creates definitions for a component's kinds, each as group/version/Kind, that the lab does
// not serve yet. They accept any content; no controller reconciles them.
func Kinds(ctx context.Context, client dynamic.Interface, component string, apis []string) error {
	type key struct{ group, kind string }
	versions := map[key][]string{}
	var problems []error
	for _, api := range apis {
		parts := strings.Split(api, "/")
		if len(parts) != 3 {
			problems = append(problems, fmt.Errorf("invalid kind %q of %s: must be group/version/Kind", api, component))
			continue
		}
		k := key{parts[0], parts[2]}
		versions[k] = append(versions[k], parts[1])
	}
	for _, k := range slices.SortedFunc(maps.Keys(versions), func(a, b key) int { return strings.Compare(a.group+a.kind, b.group+b.kind) }) {
		definition := definitionOf(component, k.group, k.kind, versions[k])
		_, err := client.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			problems = append(problems, fmt.Errorf("serve %s of %s: %w", definition.GetName(), component, err))
		}
	}
	return errors.Join(problems...)
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func definitionOf(component, group, kind string, versions []string) *unstructured.Unstructured {
	guess, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: group, Version: versions[0], Kind: kind})
	plural := guess.Resource
	if p, ok := plurals[kind]; ok {
		plural = p
	}
	var served []any
	for i, v := range versions {
		served = append(served, map[string]any{
			"name": v, "served": true, "storage": i == 0,
			"schema":       map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			"subresources": map[string]any{"status": map[string]any{}},
		})
	}
	annotations := map[string]any{}
	if strings.HasSuffix(group, ".k8s.io") {
		annotations["api-approved.kubernetes.io"] = "unapproved, a placeholder in a lab"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + group, "labels": map[string]any{Label: component}, "annotations": annotations},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": served,
			"names": map[string]any{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
		},
	}}
}
