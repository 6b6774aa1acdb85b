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

// crds are the kinds; policy restricts who may change a lease. It is applied once the kinds are
// served.
//
//go:embed crds.yaml
var crds []byte

//go:embed policy.yaml
var policy []byte

// Definitions returns the CustomResourceDefinitions and the ValidatingAdmissionPolicy as YAML.
func Definitions() []byte { return slices.Concat(crds, []byte("---\n"), policy) }

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// resources maps the kinds in crds.yaml and policy.yaml.
var resources = map[string]schema.GroupVersionResource{
	"CustomResourceDefinition":         definitions,
	"ValidatingAdmissionPolicy":        {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	"ValidatingAdmissionPolicyBinding": {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicybindings"},
}

// servedTimeout bounds the wait for the API server to serve the kinds.
const servedTimeout = 2 * time.Minute

// servedAnnotation is set on the last definition to the digest of all definitions and the policy,
// once the API server serves the kinds.
const servedAnnotation = "firstlight.dev/served"

// Install applies the definitions to a cluster and waits until they are served. If they are served
// already, it costs one read.
func Install(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("install the reservation store: %w", err)
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
		if apierrors.IsNotFound(err) { // the kind is missing: an apply creates the object
			return fmt.Errorf("install the reservation store: the API server has no %s: Kubernetes 1.30 or later is required: %w", u.GetKind(), err)
		}
		if err != nil {
			return fmt.Errorf("install the reservation store: apply %s: %w", u.GetName(), err)
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
			return nil, fmt.Errorf("install the reservation store: %w", err)
		}
		all = append(all, u)
	}
}

// waitServed waits until the API server serves the kinds.
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
		return fmt.Errorf("install the reservation store: the API server does not serve the kinds: %w", err)
	}
	k, err := NewKube(config)
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedTimeout, true, func(ctx context.Context) (bool, error) {
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
