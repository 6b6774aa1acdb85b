package assertion

import (
	"context"
	"errors"
	"fmt"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"github.com/kyverno/chainsaw/pkg/client"
	"github.com/kyverno/chainsaw/pkg/engine/checks"
	"github.com/kyverno/chainsaw/pkg/engine/namespacer"
	"github.com/kyverno/chainsaw/pkg/engine/templating"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule is the number of selected objects that must match an assertion.
type Rule int

// The rules.
const (
	// Chainsaw requires one match, like chainsaw test.
	Chainsaw Rule = iota
	// All requires at least one selected object, and that all of them match.
	All
)

// Evaluate judges an operation by recorded reads. It is pure.
func (o *Operation) Evaluate(seen Seen, rule Rule) Result {
	var at [levels]*source
	for i := range seen {
		at[i] = replay(seen[i])
	}
	return o.evaluate(at, rule)
}

// evaluate evaluates the operation once. Sources request missing reads.
func (o *Operation) evaluate(at [levels]*source, rule Rule) (r Result) {
	defer func() {
		if p := recover(); p != nil { // expression interpreters panic on some values
			r = Result{Wrong: fmt.Sprintf("cannot evaluate the expression: %v", p), Subject: o.Subject()}
		}
	}()
	s := scope{at: at}
	if err := s.bind(o); err != nil {
		r = o.impossible(err)
		r.unbound = true
		return r
	}
	s.enter(levelLook)
	e := evaluation{scope: &s, op: o, rule: rule, obj: *o.Resource.DeepCopy()}
	if o.template {
		if err := templating.ResourceRef(context.Background(), s.compilers(), &e.obj, s.bindings); err != nil { //nolint:forbidigo // Chainsaw's does nothing with it
			return o.impossible(err)
		}
	}
	if e.obj.GetKind() == "" {
		return e.expressions()
	}
	if err := e.namespace(); err != nil {
		return e.failed(err)
	}
	candidates, err := e.read()
	if err != nil {
		return e.failed(err)
	}
	return e.objects(candidates)
}

// evaluation is one evaluation of an operation.
type evaluation struct {
	*scope
	op   *Operation
	rule Rule
	obj  unstructured.Unstructured
}

var errNoNamespace = errors.New("namespace missing: set metadata.namespace of the object or spec.namespace of the test")

// namespace sets the default namespace of a namespaced object.
func (e *evaluation) namespace() error {
	if e.obj.GetNamespace() != "" {
		return nil
	}
	if ns := e.op.Test.Namespace; ns != "" {
		return namespacer.New(ns).Apply(e.at[levelLook], &e.obj)
	}
	namespaced, err := e.at[levelLook].IsObjectNamespaced(&e.obj)
	if err == nil && namespaced {
		return errNoNamespace
	}
	return err
}

// read lists the selected objects, as Chainsaw does: by name, else by namespace and labels.
func (e *evaluation) read() ([]unstructured.Unstructured, error) {
	ctx := context.Background() //nolint:forbidigo // a source has its own
	from := e.at[levelLook]
	if e.obj.GetName() != "" {
		var one unstructured.Unstructured
		one.SetGroupVersionKind(e.obj.GroupVersionKind())
		err := from.Get(ctx, client.Key(&e.obj), &one)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return []unstructured.Unstructured{one}, err
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(e.obj.GroupVersionKind())
	var opts []client.ListOption
	if ns := e.obj.GetNamespace(); ns != "" {
		opts = append(opts, client.InNamespace(ns))
	}
	if l := e.obj.GetLabels(); len(l) > 0 {
		opts = append(opts, client.MatchingLabels(l))
	}
	err := from.List(ctx, &list, opts...)
	return list.Items, err
}

// check compares one value with an assertion.
func (e *evaluation) check(value any, against map[string]any) (field.ErrorList, error) {
	tree := v1alpha1.NewCheck(against)
	return checks.Check(context.Background(), e.compilers(), value, e.bindings, &tree) //nolint:forbidigo // Chainsaw's does nothing with it; its own words
}

func (o *Operation) impossible(err error) Result {
	return Result{Subject: o.Subject(), Wrong: err.Error(), Unseen: unseen(err), Forbidden: apierrors.IsForbidden(err)}
}

// failed is the Result of a list error.
func (e *evaluation) failed(err error) Result {
	r := e.op.impossible(err)
	r.Subject = subject(e.obj)
	if meta.IsNoMatchError(err) {
		r.NoKind = true
		r.Wrong = fmt.Sprintf("the API server does not serve %s of %s", e.obj.GetKind(), e.obj.GetAPIVersion())
	}
	return r
}
