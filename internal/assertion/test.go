package assertion

import (
	"time"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/diag"
)

// Kind says what an operation demands.
type Kind string

// The kinds of operations that only look.
const (
	// Assert demands that there is an object that matches.
	Assert Kind = "assert"
	// Error demands that there is none.
	Error Kind = "error"
)

// Test is a test of a file; one with scenarios is as many Tests.
type Test struct {
	Name string
	// File as Load was told, and where in it the test begins.
	File diag.Pos
	// Number of the test in its file, and of its scenario; from 1. Scenario is 0
	// where the test has none.
	Number, Scenario int
	// Namespace of objects that name none; may be empty.
	Namespace string
	Steps     []*Step

	meta     metav1.ObjectMeta
	values   any
	scenario []v1alpha1.Binding
	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Operations are those of all steps, in order.
func (t *Test) Operations() []*Operation {
	var out []*Operation
	for _, s := range t.Steps {
		out = append(out, s.Operations...)
	}
	return out
}

// Step is one step of a test.
type Step struct {
	// Name as written, or step-N as Chainsaw calls it.
	Name string
	// Number of the step in its test, from 1.
	Number     int
	Operations []*Operation

	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Operation is one assert or error of one object. An operation whose file has
// several objects is as many Operations.
type Operation struct {
	Kind Kind
	Test *Test
	Step *Step
	// Number of the operation in its step, and of its object in it; from 1.
	Number, Object int
	Description    string
	// At is where the operation stands.
	At diag.Pos
	// Timeout until when it must hold.
	Timeout time.Duration
	// ContinueOnError: what comes after it is run though it failed.
	ContinueOnError bool
	// Resource is the assertion: an object, or expressions alone.
	Resource unstructured.Unstructured

	template bool
	bindings []v1alpha1.Binding
	compiler *v1alpha1.Compiler
}

// Subject names what the operation looks at: "Deployment gpu-operator/gpu-operator",
// "Pod dynamo/* app=x", or "expressions" where it is no object.
func (o *Operation) Subject() string { return subject(o.Resource) }

func subject(obj unstructured.Unstructured) string {
	if obj.GetKind() == "" {
		return "expressions"
	}
	name := obj.GetName()
	if name == "" {
		name = "*"
	}
	if ns := obj.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	text := obj.GetKind() + " " + name
	if obj.GetName() == "" && len(obj.GetLabels()) > 0 {
		text += " " + selectorOf(obj.GetLabels())
	}
	return text
}
