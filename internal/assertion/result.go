package assertion

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Result is the outcome of one evaluation.
type Result struct {
	// Holds reports whether the operation's condition is met.
	Holds bool `json:"holds"`
	// Subject as in Operation.Subject, after bindings and default namespaces.
	Subject string `json:"subject"`
	// Objects selected, in the API server's order.
	Objects []Object `json:"objects,omitempty"`
	// Fields that do not hold of expressions without an object.
	Fields []Field `json:"fields,omitempty"`
	// Wrong is why the evaluation failed.
	Wrong string `json:"wrong,omitempty"`
	// Unseen: the API server did not answer or refused. NoKind: it does not serve the kind.
	Unseen bool `json:"unseen,omitempty"`
	// Forbidden: it refused for lack of permissions.
	Forbidden bool `json:"forbidden,omitempty"`
	NoKind    bool `json:"noKind,omitempty"`

	// unbound: the bindings could not be resolved, which is final.
	unbound bool
}

// Object is one selected object.
type Object struct {
	// Name as "Deployment gpu-operator/gpu-operator".
	Name string `json:"name"`
	// Matches the assertion.
	Matches bool `json:"matches"`
	// Fields that do not match.
	Fields []Field `json:"fields,omitempty"`
}

// Field is one mismatch between an object and the assertion.
type Field struct {
	// Path as the engine has it: "status.(readyReplicas > `0`)".
	Path string `json:"path"`
	// Text is the engine's: Invalid value: false: Expected value: true.
	Text string `json:"text"`
	// Values of the plain paths that the expression reads: "status.availableReplicas is
	// absent".
	Values []string `json:"values,omitempty"`
}

// String is the engine's own line.
func (f Field) String() string {
	if f.Path == "" {
		return f.Text
	}
	return f.Path + ": " + f.Text
}

func fieldsOf(errs field.ErrorList, of map[string]any) []Field {
	out := make([]Field, 0, len(errs))
	for _, e := range errs {
		out = append(out, Field{Path: e.Field, Text: e.ErrorBody(), Values: valuesOf(e.Field, of)})
	}
	slices.SortFunc(out, func(a, b Field) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text)) })
	return out
}

// expressions evaluates an assertion without an object.
func (e *evaluation) expressions() Result {
	r := Result{Subject: subject(e.obj)}
	errs, err := e.check(nil, e.obj.UnstructuredContent())
	if err != nil {
		return e.op.impossible(err)
	}
	r.Fields = fieldsOf(errs, nil)
	r.Holds = (len(errs) == 0) == (e.op.Kind == Assert)
	return r
}

// objects evaluates an assertion of each object.
func (e *evaluation) objects(candidates []unstructured.Unstructured) Result {
	r := Result{Subject: subject(e.obj)}
	matching := 0
	for i := range candidates {
		chosen, err := e.selected(&candidates[i])
		if err == nil && !chosen {
			continue
		}
		var errs field.ErrorList
		if err == nil {
			errs, err = e.check(candidates[i].UnstructuredContent(), e.obj.UnstructuredContent())
		}
		if err != nil {
			r.Wrong, r.Unseen, r.Forbidden = wrongOf(&candidates[i], err), unseen(err), apierrors.IsForbidden(err)
			return r
		}
		o := Object{Name: subject(candidates[i]), Matches: len(errs) == 0, Fields: fieldsOf(errs, candidates[i].Object)}
		r.Objects = append(r.Objects, o)
		if !o.Matches {
			continue
		}
		matching++
		if e.op.Kind == Assert && e.rule == Chainsaw {
			break
		}
	}
	switch {
	case e.op.Kind == Error:
		r.Holds = matching == 0
	case e.rule == All:
		r.Holds = matching > 0 && matching == len(r.Objects)
	default:
		r.Holds = matching > 0
	}
	return r
}

// selected reports whether an object matches label expressions, which the API server
// cannot select by.
func (e *evaluation) selected(candidate *unstructured.Unstructured) (bool, error) {
	if e.rule == Chainsaw || e.op.Kind == Error || e.obj.GetName() != "" {
		return true, nil
	}
	labels, has, err := unstructured.NestedFieldNoCopy(e.obj.Object, "metadata", "labels")
	if err != nil || !has || labels == nil {
		return true, nil //nolint:nilerr // metadata that is an expression selects nothing
	}
	errs, err := e.check(map[string]any{"labels": metadata(candidate)["labels"]}, map[string]any{"labels": labels})
	var typed *field.Error
	if errors.As(err, &typed) {
		return false, nil // its labels do not fit the expression's types
	}
	return len(errs) == 0, err
}

func metadata(o *unstructured.Unstructured) map[string]any {
	m, _ := o.Object["metadata"].(map[string]any)
	return m
}

// wrongOf adds the object to an evaluation error.
func wrongOf(o *unstructured.Unstructured, err error) string {
	return fmt.Sprintf("%s: %s", subject(*o), err)
}
