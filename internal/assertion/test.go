package assertion

import (
	"cmp"
	"time"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/diag"
)

// Kind of an operation.
type Kind string

// Read-only operations.
const (
	// Assert requires a matching object.
	Assert Kind = "assert"
	// Error requires that no object matches.
	Error Kind = "error"
)

// Test is a test of a file; each scenario is a separate Test.
type Test struct {
	Name string
	// File and position of the test.
	File diag.Pos
	// Number of the test in its file, and of its Scenario; from 1. Scenario is 0 without
	// scenarios.
	Number, Scenario int
	// Namespace of objects without one; may be empty.
	Namespace string
	Steps     []*Step

	meta     metav1.ObjectMeta
	values   any
	scenario []v1alpha1.Binding
	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Operations of all steps, in order.
func (t *Test) Operations() []*Operation {
	var out []*Operation
	for _, s := range t.Steps {
		out = append(out, s.Operations...)
	}
	return out
}

// Step is one step of a test.
type Step struct {
	// Name as written, or step-N as in Chainsaw.
	Name string
	// Number of the step in its test, from 1.
	Number     int
	Operations []*Operation

	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Operation is one assert or error of one object. A file with several objects becomes
// several Operations.
type Operation struct {
	Kind Kind
	Test *Test
	Step *Step
	// Number of the operation in its step, and of its object in it; from 1.
	Number, Object int
	Description    string
	// At is the position of the operation.
	At diag.Pos
	// Timeout for the condition.
	Timeout time.Duration
	// ContinueOnError: a failure does not end the test.
	ContinueOnError bool
	// Resource is the assertion: an object, or expressions alone.
	Resource unstructured.Unstructured

	template bool
	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Subject names the selected objects: "Deployment gpu-operator/gpu-operator",
// "Pod dynamo/* app=x", or "expressions" without an object.
func (o *Operation) Subject() string { return subject(o.Resource) }

func subject(obj unstructured.Unstructured) string {
	if obj.GetKind() == "" {
		return "expressions"
	}
	name := cmp.Or(obj.GetName(), "*")
	if ns := obj.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	text := obj.GetKind() + " " + name
	if obj.GetName() == "" && len(obj.GetLabels()) > 0 {
		text += " " + selectorOf(obj.GetLabels())
	}
	return text
}
