package assertion

import (
	"slices"
	"strings"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/diag"
)

// operation adds the operations of one entry of try.
func (l *loader) operation(d *document, t *Test, s *Step, raw *v1alpha1.Operation, number int, keys []string, from settings) {
	names := given(raw, "description", "compiler", "continueOnError")
	switch {
	case len(names) == 0:
		l.add(noOperation.At(d.At(keys...), "an entry of try has no operation"))
		return
	case len(names) > 1:
		l.add(badValue.At(d.At(keys...), "an entry of try has %s", strings.Join(names, " and ")).With("write one entry for each"))
		return
	}
	o := Operation{
		Test: t, Step: s, Number: number, Description: raw.Description, compiler: raw.Compiler, Kind: Kind(names[0]),
		ContinueOnError: raw.ContinueOnError != nil && *raw.ContinueOnError, At: d.At(append(keys, names[0])...),
	}
	switch {
	case raw.Assert != nil:
		l.checks(d, o, raw.Assert.ActionCheckRef, raw.Assert.ActionClusters, raw.Assert.ActionBindings, append(keys, names[0]),
			from.with(raw.Assert.Template, &v1alpha1.Timeouts{Assert: raw.Assert.Timeout}))
	case raw.Error != nil:
		l.checks(d, o, raw.Error.ActionCheckRef, raw.Error.ActionClusters, raw.Error.ActionBindings, append(keys, names[0]),
			from.with(raw.Error.Template, &v1alpha1.Timeouts{Error: raw.Error.Timeout}))
	default:
		l.add(refused.At(o.At, "unsupported operation %s in step %s", names[0], s.Name))
	}
}

// checks adds one operation for every object of an entry.
func (l *loader) checks(d *document, o Operation, ref v1alpha1.ActionCheckRef, where v1alpha1.ActionClusters, bindings v1alpha1.ActionBindings, keys []string, from settings) {
	l.rejectClusters(d, where.Cluster, where.Clusters, keys...)
	l.names(d, bindings.Bindings, append(slices.Clone(keys), "bindings")...)
	o.template, o.bindings, o.Timeout = from.template, bindings.Bindings, from.assert
	if o.Kind == Error {
		o.Timeout = from.failed
	}
	if o.Timeout <= 0 {
		l.add(badValue.At(d.At(append(keys, "timeout")...), "invalid timeout %s: must be above 0", o.Timeout))
		return
	}
	inline := ref.Check != nil && ref.Check.Value() != nil
	switch {
	case inline && ref.File != "":
		l.add(badValue.At(o.At, "%s has both file and resource", o.Kind).With("keep one of them"))
	case inline:
		object, ok := ref.Check.Value().(map[string]any)
		if !ok {
			l.add(badValue.At(d.At(append(keys, "resource")...), "invalid resource: must be a mapping"))
			return
		}
		l.object(o, found{unstructured.Unstructured{Object: object}, d.At(append(keys, "resource")...)}, 1)
	case ref.File != "":
		for i, f := range l.files(d, o, ref.File, append(keys, "file")) {
			l.object(o, f, i+1)
		}
	default:
		l.add(noOperation.At(o.At, "%s has neither file nor resource", o.Kind))
	}
}

// found is an object with its position.
type found struct {
	unstructured.Unstructured
	at diag.Pos
}

func (l *loader) object(o Operation, f found, number int) {
	version, kind := f.GetAPIVersion(), f.GetKind()
	if (version == "") != (kind == "") {
		l.add(badValue.At(f.at, "the object has only one of apiVersion and kind: Chainsaw would select nothing").With("write both, or neither for expressions alone"))
		return
	}
	if key := unnamed(f.Object); key != "" {
		l.add(badValue.At(f.at, "invalid metadata.%s: must be a string; Chainsaw would ignore it", key).With("put it in quotes"))
		return
	}
	if len(f.Object) == 0 {
		l.add(noOperation.At(f.at, "the object is empty"))
		return
	}
	if err := parses(&o, f.Object); err != nil {
		l.add(badValue.At(f.at, "%s", err).With("correct the expression"))
		return
	}
	o.Resource, o.Object = f.Unstructured, number
	if f.at.File != o.At.File {
		o.At = f.at
	}
	o.Step.Operations = append(o.Step.Operations, &o)
}

// unnamed returns the first of name and namespace that is a scalar other than a string.
func unnamed(object map[string]any) string {
	m, _ := object["metadata"].(map[string]any)
	for _, key := range []string{"name", "namespace"} {
		switch m[key].(type) {
		case bool, float64, int64:
			return key
		}
	}
	return ""
}
