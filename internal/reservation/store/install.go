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

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
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

// servedTimeout bounds the wait for the API server to serve the kinds.
const servedTimeout = 2 * time.Minute

// servedAnnotation is set on the last definition to the digest of all definitions and the policy,
// once the API server serves the kinds.
const servedAnnotation = "firstlight.dev/served"

// Install applies the definitions to a cluster and waits until they are served. If they are served
// already, it costs one read.
func Install(ctx context.Context, config *rest.Config) error {
	k, err := NewKube(config)
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
	is := &apiextensionsv1.CustomResourceDefinition{}
	err = k.client.Get(ctx, client.ObjectKey{Name: last.GetName()}, is)
	if err == nil && is.Annotations[servedAnnotation] == digest {
		return nil
	}
	apply := func(u *unstructured.Unstructured) error {
		desired := client.ApplyConfigurationFromUnstructured(u.DeepCopy()) // the answer replaces it
		err := k.client.Apply(ctx, desired, client.FieldOwner("firstlight"), client.ForceOwnership)
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
	if err := k.waitServed(ctx, names); err != nil {
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
func (k *Kube) waitServed(ctx context.Context, names []string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedTimeout, true, func(ctx context.Context) (bool, error) {
		for _, name := range names {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := k.client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil || !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
				return false, nil //nolint:nilerr // asked again until the deadline
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("install the reservation store: the API server does not serve the kinds: %w", err)
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, servedTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := k.List(ctx)
		return err == nil, nil
	})
}
