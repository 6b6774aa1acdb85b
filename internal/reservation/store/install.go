package store

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

//go:embed crds.yaml
var crds []byte

// Definitions are the CustomResourceDefinitions, as YAML.
func Definitions() []byte { return bytes.Clone(crds) }

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// established bounds the wait for the API server to serve the kinds.
const established = 2 * time.Minute

// Install makes a cluster a store: it applies the definitions and returns when they
// are served. Where they are already, it changes nothing but what differs.
func Install(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("install the store of reservations: %w", err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(crds), 4096)
	var names []string
	for {
		u := &unstructured.Unstructured{}
		if err := decoder.Decode(&u.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("install the store of reservations: %w", err)
		}
		opts := metav1.ApplyOptions{FieldManager: "firstlight", Force: true}
		if _, err := client.Resource(definitions).Apply(ctx, u.GetName(), u, opts); err != nil {
			return fmt.Errorf("install the store of reservations: apply %s: %w", u.GetName(), err)
		}
		names = append(names, u.GetName())
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, established, true, func(ctx context.Context) (bool, error) {
		for _, name := range names {
			u, err := client.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
			if err != nil || !isEstablished(u) {
				return false, nil //nolint:nilerr // asked again until the deadline
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("install the store of reservations: the API server does not serve the kinds: %w", err)
	}
	k, err := NewKube(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, established, true, func(ctx context.Context) (bool, error) { //nolint:wrapcheck // below
		_, err := k.List(ctx)
		return err == nil, nil
	})
}

func isEstablished(u *unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}
