package assertion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kyverno/chainsaw/pkg/client"
	"github.com/kyverno/kyverno-json/pkg/core/compilers"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	ctrl "sigs.k8s.io/controller-runtime/pkg/client"
)

// source answers reads of Chainsaw's engine and records each once. It is bound to $client
// and $config.
type source struct {
	at    time.Time
	known map[string]Read
	order []string
	// ask reads from a cluster; nil for replay.
	ask func(Read) Read
	// compile expressions at time at.
	compile compilers.Compilers
}

var _ client.Client = (*source)(nil)

// replay answers from recorded reads.
func replay(l Level) *source {
	s := &source{at: l.At, known: make(map[string]Read, len(l.Reads)), compile: compilersAt(l.At)}
	for _, r := range l.Reads {
		s.known[r.question()] = r
	}
	return s
}

// level returns the recorded reads.
func (s *source) level() Level {
	l := Level{At: s.at}
	order := slices.Sorted(slices.Values(s.order)) // map iteration randomizes the order
	for _, q := range order {
		l.Reads = append(l.Reads, s.known[q])
	}
	return l
}

func (s *source) answer(r Read) (Read, error) {
	q := r.question()
	known, ok := s.known[q]
	if !ok {
		if s.ask == nil {
			return r, fmt.Errorf("%s was not read", strings.TrimSpace(q))
		}
		known = s.ask(r)
		scrub(known.Objects)
		s.known[q] = known
		s.order = append(s.order, q)
	}
	return known, known.Failure.err(r)
}

func newRead(verb string, gvk schema.GroupVersionKind) Read {
	version, kind := gvk.ToAPIVersionAndKind()
	return Read{Verb: verb, APIVersion: version, Kind: kind}
}

// Get implements client.Client.
func (s *source) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	into, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("get %s: %T is not unstructured", key, obj)
	}
	r := newRead(verbGet, into.GroupVersionKind())
	r.Namespace, r.Name = key.Namespace, key.Name
	got, err := s.answer(r)
	if err != nil {
		return err
	}
	if len(got.Objects) != 1 {
		return fmt.Errorf("get %s: %d objects", key, len(got.Objects))
	}
	got.Objects[0].DeepCopyInto(into)
	return nil
}

// List implements client.Client.
func (s *source) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	into, ok := list.(*unstructured.UnstructuredList)
	if !ok {
		return fmt.Errorf("list: %T is not unstructured", list)
	}
	var o ctrl.ListOptions
	o.ApplyOptions(opts)
	gvk := into.GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	r := newRead(verbList, gvk)
	r.Namespace = o.Namespace
	if o.LabelSelector != nil {
		r.Selector = o.LabelSelector.String()
	}
	got, err := s.answer(r)
	if err != nil {
		return err
	}
	into.Items = nil
	for i := range got.Objects {
		into.Items = append(into.Items, *got.Objects[i].DeepCopy())
	}
	return nil
}

// IsObjectNamespaced implements client.Client.
func (s *source) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	got, err := s.answer(newRead(verbKind, obj.GetObjectKind().GroupVersionKind()))
	return got.Namespaced, err
}

// ServerVersion is the API server's.
func (s *source) ServerVersion() (*version.Info, error) {
	got, err := s.answer(Read{Verb: verbVersion})
	return got.Version, err
}

// RESTMapper implements client.Client.
func (s *source) RESTMapper() meta.RESTMapper { return kinds{source: s} }

// kinds is a RESTMapper that only checks whether a kind is served.
type kinds struct {
	meta.RESTMapper
	source *source
}

// RESTMapping implements meta.RESTMapper.
func (k kinds) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) != 1 {
		return nil, fmt.Errorf("%s: want one version", gk)
	}
	gvk := gk.WithVersion(versions[0])
	if _, err := k.source.answer(newRead(verbKind, gvk)); err != nil {
		return nil, err
	}
	return &meta.RESTMapping{GroupVersionKind: gvk}, nil
}

var errReadOnly = errors.New("assertions are read-only")

// Create implements client.Client; it always fails.
func (*source) Create(context.Context, client.Object, ...client.CreateOption) error {
	return errReadOnly
}

// Update implements client.Client; it always fails.
func (*source) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errReadOnly
}

// Delete implements client.Client; it always fails.
func (*source) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errReadOnly
}

// Patch implements client.Client; it always fails.
func (*source) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errReadOnly
}

// selectorOf formats labels as a selector.
func selectorOf(l map[string]string) string { return labels.SelectorFromSet(l).String() }
