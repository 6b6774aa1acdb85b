package assertion

import (
	"cmp"
	"io/fs"
	"time"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/firstlight/firstlight/internal/diag"
)

const apiVersion = "chainsaw.kyverno.io/v1alpha1"

// Chainsaw's default timeouts.
const (
	DefaultAssert = 30 * time.Second
	DefaultError  = 30 * time.Second
)

// Options of Load; the zero value is Chainsaw's own configuration.
type Options struct {
	// Dir is the root of referenced files; nil forbids references.
	Dir fs.FS
	// Namespace of tests without one, as chainsaw test --namespace. If it is empty, an object
	// without a namespace cannot be read. (Chainsaw would create an empty namespace.)
	Namespace string
	// Values are bound to $values.
	Values any
	// Assert and Error are default timeouts; 0 for Chainsaw's.
	Assert, Error time.Duration
}

// Load reads a file; name is used in messages. Its error is a diag.List of all problems
// with position and remedy.
func Load(name string, data []byte, o Options) ([]*Test, error) {
	l := loader{file: name, opts: o}
	docs, problems := documents(name, data)
	l.problems = problems
	var out []*Test
	for i := range docs {
		out = append(out, l.document(&docs[i], i+1)...)
	}
	if len(docs)+len(problems) == 0 {
		l.problems = append(l.problems, noOperation.At(diag.Pos{File: name}, "no test in the file"))
	}
	if err := l.problems.Sort().Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// loader converts documents to tests and collects problems.
type loader struct {
	file     string
	opts     Options
	problems diag.List
}

func (l *loader) add(p diag.Problem) { l.problems = append(l.problems, p) }

func (l *loader) document(d *document, number int) []*Test {
	if wrong := d.is("Test"); wrong != nil {
		l.problems = append(l.problems, wrong...)
		return nil
	}
	var raw v1alpha1.Test
	if wrong := d.decode(&raw); wrong != nil {
		l.problems = append(l.problems, wrong...)
		return nil
	}
	l.spec(d, &raw.Spec)
	scenarios := raw.Spec.Scenarios
	if len(scenarios) == 0 {
		return []*Test{l.test(d, &raw, number, 0, nil)}
	}
	var out []*Test
	for i := range scenarios {
		out = append(out, l.test(d, &raw, number, i+1, scenarios[i].Bindings))
	}
	return out
}

func (l *loader) test(d *document, raw *v1alpha1.Test, number, scenario int, bindings []v1alpha1.Binding) *Test {
	t := &Test{
		Name: raw.Name, File: d.At(), Number: number, Scenario: scenario, Namespace: raw.Spec.Namespace,
		meta: raw.ObjectMeta, values: l.opts.Values, scenario: bindings, bindings: raw.Spec.Bindings, compiler: raw.Spec.Compiler,
	}
	t.Namespace = cmp.Or(t.Namespace, l.opts.Namespace)
	inherited := settings{template: true, assert: DefaultAssert, failed: DefaultError}
	if l.opts.Assert > 0 {
		inherited.assert = l.opts.Assert
	}
	if l.opts.Error > 0 {
		inherited.failed = l.opts.Error
	}
	inherited = inherited.with(raw.Spec.Template, raw.Spec.Timeouts)
	for i := range raw.Spec.Steps {
		t.Steps = append(t.Steps, l.step(d, t, &raw.Spec.Steps[i], i+1, inherited))
	}
	return t
}

// settings are what steps inherit from tests, and operations from steps.
type settings struct {
	template       bool
	assert, failed time.Duration
}

func (s settings) with(template *bool, timeouts *v1alpha1.Timeouts) settings {
	s.template = ptr.Deref(template, s.template)
	if timeouts != nil && timeouts.Assert != nil {
		s.assert = timeouts.Assert.Duration
	}
	if timeouts != nil && timeouts.Error != nil {
		s.failed = timeouts.Error.Duration
	}
	return s
}
