package pregate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

const (
	// statusInterval is the time between two reads of a custom resource.
	statusInterval = time.Second
	// steadyReads is how many reads in a row must show a custom resource as ready. NVIDIA's GPU Operator takes a DaemonSet
	// whose pods are not counted yet for ready, and is not ready again seconds later, for as long as drivers are installed
	// (github.com/NVIDIA/gpu-operator, controllers/object_controls.go: isDaemonSetReady).
	steadyReads = 10
)

// await waits until the custom resources of the release whose definitions have conditions are ready.
// Helm takes one without a status for ready, and an operator that was just started has written none.
func (r *release) await(ctx context.Context, cfg *action.Configuration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout, fmt.Errorf("not ready after %s", r.timeout))
	defer cancel()
	rel, err := last(cfg, r.spec.Release)
	if err != nil {
		return fmt.Errorf("read release %s: %w", r.spec.Release, err)
	}
	config, err := cfg.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper, err := cfg.RESTClientGetter.ToRESTMapper()
	if err != nil {
		return err
	}
	objects, err := decode(rel.Manifest)
	if err != nil {
		return fmt.Errorf("read the objects of release %s: %w", r.spec.Release, err)
	}
	for _, o := range objects {
		if err := awaitOne(ctx, client, mapper, o, rel.Namespace); err != nil {
			return err
		}
	}
	return nil
}

// last is the last revision of a release, in whatever state.
func last(cfg *action.Configuration, name string) (*releasev1.Release, error) {
	found, err := cfg.Releases.Last(name)
	if err != nil {
		return nil, err
	}
	rel, ok := found.(*releasev1.Release)
	if !ok {
		return nil, fmt.Errorf("unexpected Helm release %T", found)
	}
	return rel, nil
}

// decode are the objects of a manifest.
func decode(manifest string) ([]*unstructured.Unstructured, error) {
	if err := yamlstrict.Bounded([]byte(manifest)); err != nil {
		return nil, err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifest), len(manifest)+1)
	var out []*unstructured.Unstructured
	for {
		o := &unstructured.Unstructured{}
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o.Object) > 0 {
			out = append(out, o)
		}
	}
}

func awaitOne(ctx context.Context, client dynamic.Interface, mapper meta.RESTMapper, o *unstructured.Unstructured, namespace string) error {
	kind := o.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return fmt.Errorf("find the resource of %s %s: %w", kind.Kind, o.GetName(), err)
	}
	has, err := hasConditions(ctx, client, mapping.Resource)
	if err != nil || !has {
		return err
	}
	var resource dynamic.ResourceInterface = client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if own := o.GetNamespace(); own != "" {
			namespace = own
		}
		resource = client.Resource(mapping.Resource).Namespace(namespace)
	}
	return poll.Until(ctx, statusInterval, fmt.Sprintf("%s %s to be ready", kind.Kind, o.GetName()), steady(steadyReads, func(ctx context.Context) error {
		now, err := resource.Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		return ready(now)
	}))
}

// steady returns nil if this many reads in a row did.
func steady(reads int, read func(context.Context) error) func(context.Context) error {
	seen := 0
	return func(ctx context.Context) error {
		if err := read(ctx); err != nil {
			seen = 0
			return err
		}
		if seen++; seen < reads {
			return fmt.Errorf("ready in %d reads in a row, want %d", seen, reads)
		}
		return nil
	}
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// hasConditions reports whether a resource is a custom one whose definition has conditions in its
// status.
func hasConditions(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource) (bool, error) {
	if r.Group == "" {
		return false, nil
	}
	definition, err := client.Resource(definitions).Get(ctx, r.GroupResource().String(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil // Kubernetes' own, or of an aggregated API
	}
	if err != nil {
		return false, fmt.Errorf("read the definition of %s: %w", r.GroupResource(), err)
	}
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil {
		return false, fmt.Errorf("read the definition of %s: %w", r.GroupResource(), err)
	}
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok || version["name"] != r.Version {
			continue
		}
		_, written, _ := unstructured.NestedMap(version, "subresources", "status")
		_, conditions, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "status", "properties", "conditions")
		return written && conditions, nil
	}
	return false, nil
}

var errNoCondition = errors.New("no condition is reported yet")

// nothingToDo are reasons of a Ready condition with which NVIDIA's GPU Operator has found no GPU node yet: the node feature
// discovery that its chart installs labels the nodes after the operator's first reconciliation
// (github.com/NVIDIA/gpu-operator, internal/conditions).
var nothingToDo = []any{"NFDLabelsMissing", "NoGPUNodes"}

// ready returns nil if an object has conditions and is not unready by them.
func ready(o *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return err
	}
	if len(conditions) == 0 {
		return errNoCondition
	}
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" && (m["status"] != "True" || slices.Contains(nothingToDo, m["reason"])) {
			return fmt.Errorf("its condition Ready is %v: %v: %v", m["status"], m["reason"], m["message"])
		}
	}
	return nil
}
