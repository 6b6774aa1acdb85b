package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// crds are the kinds, policy says who may change a lease: it is applied when they are served.
//
//go:embed crds.yaml
var crds []byte

//go:embed policy.yaml
var policy []byte

// Definitions are the CustomResourceDefinitions and the ValidatingAdmissionPolicy, as YAML.
func Definitions() []byte { return slices.Concat(crds, []byte("---\n"), policy) }

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// resources of the kinds in crds.yaml and policy.yaml.
var resources = map[string]schema.GroupVersionResource{
	"CustomResourceDefinition":         definitions,
	"ValidatingAdmissionPolicy":        {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	"ValidatingAdmissionPolicyBinding": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
}

// established bounds the wait for the API server to serve the kinds.
const servedTimeout = 2 * time.Minute

// served annotates the last definition with the digest of all and of the policy, after
// the API server has served the kinds.
const servedAnnotation = "firstlight.dev/served"

// Install makes a cluster a store: it applies the definitions and returns when they
// are served. Where these are served already it is one read: commands call it each time.
func Install(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("install the store of reservations: %w", err)
	}
	all, err := decode(crds)
	if err != nil {
		return err
	}
	rules, err := decode(policy)
	if err != nil {
		return err
	}
	last, digest := all[len(all)-1], fmt.Sprintf("%x", sha256.Sum256(Definitions()))
	is, err := client.Resource(definitions).Get(ctx, last.GetName(), metav1.GetOptions{})
	if err == nil && is.GetAnnotations()[servedAnnotation] == digest {
		return nil
	}
	apply := func(u *unstructured.Unstructured) error {
		opts := metav1.ApplyOptions{FieldManager: "firstlight", Force: true}
		_, err := client.Resource(resources[u.GetKind()]).Apply(ctx, u.GetName(), u, opts)
		if apierrors.IsNotFound(err) { // of the kind: an apply creates the object
			return fmt.Errorf("install the store of reservations: the API server has no %s: Kubernetes 1.30 or later is needed: %w", u.GetKind(), err)
		}
		if err != nil {
			return fmt.Errorf("install the store of reservations: apply %s: %w", u.GetName(), err)
		}
		return nil
	}
	var names []string
	for _, u := range all {
		if err := apply(u); err != nil {
			return err
		}
		names = append(names, u.GetName())
	}
	if err := waitServed(ctx, config, client, names); err != nil {
		return err
	}
	for _, u := range rules {
		if err := apply(u); err != nil {
			return err
		}
	}
	last.SetAnnotations(map[string]string{servedAnnotation: digest})
	return apply(last)
}

func decode(documents []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4096)
	var all []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		switch err := decoder.Decode(&u.Object); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("install the store of reservations: %w", err)
		}
		all = append(all, u)
	}
}

// awaitServed returns when the API server serves the kinds.
func waitServed(ctx context.Context, config *rest.Config, client dynamic.Interface, names []string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedTimeout, true, func(ctx context.Context) (bool, error) {
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
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedTimeout, true, func(ctx context.Context) (bool, error) { //nolint:wrapcheck // below
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
