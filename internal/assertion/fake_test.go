package assertion

import (
	"context"
	"maps"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"
)

// shelf is a cluster of fixed objects.
type shelf struct {
	objects []unstructured.Unstructured
	// broken answers every question when it is set.
	broken error
}

// served kinds, and whether they have namespaces.
var served = map[string]bool{
	"v1 ConfigMap": true, "v1 Pod": true, "v1 Secret": true, "v1 Node": false, "v1 Namespace": false,
	"apps/v1 Deployment": true, "apps/v1 DaemonSet": true, "apps/v1 StatefulSet": true, "batch/v1 Job": true,
	"apiextensions.k8s.io/v1 CustomResourceDefinition": false,
}

func (s *shelf) Ask(_ context.Context, r Read) Read {
	if s.broken != nil {
		r.Failure = failureOf(s.broken)
		return r
	}
	if r.Verb == verbVersion {
		r.Version = &version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3"}
		return r
	}
	namespaced, ok := served[r.APIVersion+" "+r.Kind]
	if !ok {
		r.Failure = failureOf(&meta.NoKindMatchError{GroupKind: r.gvk().GroupKind(), SearchedVersions: []string{r.gvk().Version}})
		return r
	}
	r.Namespaced = namespaced
	if r.Verb == verbKind {
		return r
	}
	selector, err := labels.Parse(r.Selector)
	if err != nil {
		r.Failure = failureOf(err)
		return r
	}
	for i := range s.objects {
		o := &s.objects[i]
		if o.GetAPIVersion() == r.APIVersion && o.GetKind() == r.Kind && (r.Namespace == "" || o.GetNamespace() == r.Namespace) &&
			(r.Verb == verbList || o.GetName() == r.Name) && selector.Matches(labels.Set(o.GetLabels())) {
			r.Objects = append(r.Objects, *o.DeepCopy())
		}
	}
	if r.Verb == verbGet && len(r.Objects) == 0 {
		r.Failure = failureOf(apierrors.NewNotFound(schema.GroupResource{Resource: r.Kind}, r.Name))
	}
	return r
}

// put merges an object into what there is of it, or replaces that.
func (s *shelf) put(o unstructured.Unstructured, replace bool) {
	i := slices.IndexFunc(s.objects, func(x unstructured.Unstructured) bool {
		return x.GroupVersionKind() == o.GroupVersionKind() && x.GetNamespace() == o.GetNamespace() && x.GetName() == o.GetName()
	})
	switch {
	case i < 0:
		s.objects = append(s.objects, o)
	case replace:
		s.objects[i] = o
	default:
		mergeInto(s.objects[i].Object, o.Object)
	}
}

func mergeInto(have, stated map[string]any) {
	for key, value := range stated {
		below, ok := value.(map[string]any)
		there, was := have[key].(map[string]any)
		if ok && was {
			mergeInto(there, below)
			continue
		}
		have[key] = value
	}
}

func object(tb testing.TB, text string) unstructured.Unstructured {
	tb.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(data, &m); err != nil {
		tb.Fatal(err)
	}
	return unstructured.Unstructured{Object: m}
}

func objects(tb testing.TB, texts ...string) *shelf {
	tb.Helper()
	s := &shelf{}
	for _, text := range texts {
		s.objects = append(s.objects, object(tb, text))
	}
	return s
}

// leaves are the paths to all values of an object that are scalars.
func leaves(v any, at []any, each func(path []any)) {
	switch x := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(x)) {
			leaves(x[key], append(slices.Clone(at), key), each)
		}
	case []any:
		for i := range x {
			leaves(x[i], append(slices.Clone(at), i), each)
		}
	default:
		each(at)
	}
}

// changed is an object with another value at a path.
func changed(o unstructured.Unstructured, path []any) unstructured.Unstructured {
	out := *o.DeepCopy()
	var at any = out.Object
	for i, key := range path {
		last := i == len(path)-1
		switch x := at.(type) {
		case map[string]any:
			if name := key.(string); last {
				x[name] = other(x[name])
			} else {
				at = x[name]
			}
		case []any:
			if n := key.(int); last {
				x[n] = other(x[n])
			} else {
				at = x[n]
			}
		}
	}
	return out
}

func other(v any) any {
	switch x := v.(type) {
	case int64:
		return x + 1
	case float64:
		return x + 1
	case bool:
		return !x
	default:
		return "another"
	}
}
