package assertion

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
	"k8s.io/utils/ptr"
)

// spec rejects unsupported settings of a test.
func (l *loader) spec(d *document, spec *v1alpha1.TestSpec) {
	if len(spec.Steps) == 0 {
		l.add(noOperation.At(d.At("spec", "steps"), "the test has no step"))
	}
	if ptr.Deref(spec.Skip, false) {
		l.add(notCarried.At(d.At("spec", "skip"), "unsupported skip: the test would prove nothing").With("remove skip, or the test"))
	}
	if spec.NamespaceTemplate != nil {
		l.add(notCarried.At(d.At("spec", "namespaceTemplate"), "unsupported namespaceTemplate: no namespace is created").With("remove it; set spec.namespace to an existing namespace"))
	}
	l.rejectClusters(d, spec.Cluster, spec.Clusters, "spec")
	l.collectors(d, spec.Catch, "spec", "catch")
	l.names(d, spec.Bindings, "spec", "bindings")
	for i := range spec.Scenarios {
		l.names(d, spec.Scenarios[i].Bindings, "spec", "scenarios", strconv.Itoa(i), "bindings")
	}
}

// rejectClusters rejects references to other clusters.
func (l *loader) rejectClusters(d *document, cluster *string, clusters v1alpha1.Clusters, keys ...string) {
	if cluster != nil && *cluster != "" {
		l.add(notCarried.At(d.At(append(keys, "cluster")...), "unsupported cluster %s: only the validated cluster is read", *cluster))
	}
	if len(clusters) > 0 {
		l.add(notCarried.At(d.At(append(keys, "clusters")...), "unsupported clusters: only the validated cluster is read"))
	}
}

// collectors rejects operations in catch, finally and cleanup.
func (l *loader) collectors(d *document, list []v1alpha1.CatchFinally, keys ...string) {
	for i := range list {
		at := d.At(append(slices.Clone(keys), strconv.Itoa(i))...)
		for _, name := range given(&list[i], "description", "compiler") {
			l.add(refused.At(at, "unsupported operation %s in %s", name, keys[len(keys)-1]).
				With("remove it: all reads are in the evidence"))
		}
	}
}

func (l *loader) names(d *document, bindings []v1alpha1.Binding, keys ...string) {
	for i := range bindings {
		if err := bindings[i].CheckName(); err != nil {
			l.add(badValue.At(d.At(append(slices.Clone(keys), strconv.Itoa(i), "name")...), "%s", err).
				With("write letters, digits and _, or an expression in parentheses"))
		}
	}
}

func (l *loader) step(d *document, t *Test, raw *v1alpha1.TestStep, number int, from settings) *Step {
	keys := []string{"spec", "steps", strconv.Itoa(number - 1)}
	s := &Step{Name: raw.Name, Number: number, bindings: raw.Bindings, compiler: raw.Compiler}
	if s.Name == "" {
		s.Name = "step-" + strconv.Itoa(number)
	}
	l.rejectClusters(d, raw.Cluster, raw.Clusters, keys...)
	l.parts(d, &v1alpha1.StepTemplateSpec{Bindings: raw.Bindings, Catch: raw.Catch, Finally: raw.Finally, Cleanup: raw.Cleanup}, keys)
	from = from.with(raw.Template, raw.Timeouts)
	switch {
	case raw.Use != nil && len(raw.Try) > 0:
		l.add(badValue.At(d.At(append(keys, "use")...), "step %s has both use and try", s.Name).With("keep one of them"))
	case raw.Use != nil:
		l.use(d, t, s, raw.Use, keys, from)
	case len(raw.Try) == 0:
		l.add(noOperation.At(d.At(keys...), "step %s has no operation", s.Name))
	default:
		l.try(d, t, s, raw.Try, keys, from)
	}
	return s
}

// parts checks the fields common to steps and step templates.
func (l *loader) parts(d *document, raw *v1alpha1.StepTemplateSpec, keys []string) {
	l.names(d, raw.Bindings, append(slices.Clone(keys), "bindings")...)
	l.collectors(d, raw.Catch, append(slices.Clone(keys), "catch")...)
	l.collectors(d, raw.Finally, append(slices.Clone(keys), "finally")...)
	l.collectors(d, raw.Cleanup, append(slices.Clone(keys), "cleanup")...)
}

func (l *loader) try(d *document, t *Test, s *Step, list []v1alpha1.Operation, keys []string, from settings) {
	for i := range list {
		at := append(slices.Clone(keys), "try", strconv.Itoa(i))
		l.operation(d, t, s, &list[i], i+1, at, from)
	}
}

// given returns the set keys of a value except those in without, in order.
func given(v any, without ...string) []string {
	data, err := json.Marshal(v)
	if err != nil {
		return []string{"an operation"}
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return []string{"an operation"}
	}
	var out []string
	for key := range keys {
		if !slices.Contains(without, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
