package assertion

import (
	"io/fs"
	"path"
	"slices"

	"github.com/kyverno/chainsaw/pkg/apis/v1alpha1"
)

// use replaces a step by a step template, as Chainsaw does: the template's bindings first,
// then the step's.
func (l *loader) use(d *document, t *Test, s *Step, use *v1alpha1.Use, keys []string, from settings) {
	at := d.At(append(keys, "use", "template")...)
	names := l.glob(at, use.Template)
	if len(names) == 0 {
		return
	}
	data, err := fs.ReadFile(l.opts.Dir, names[0])
	if err != nil {
		l.add(reference.At(at, "cannot read template %s: %s", use.Template, err))
		return
	}
	docs, problems := documents(path.Join(path.Dir(l.file), names[0]), data)
	l.problems = append(l.problems, problems...)
	if len(problems) > 0 {
		return
	}
	if len(docs) != 1 {
		l.add(reference.At(at, "template %s has %d documents, want one", use.Template, len(docs)))
		return
	}
	tpl := &docs[0]
	wrong := tpl.is("StepTemplate")
	var raw v1alpha1.StepTemplate
	if wrong == nil {
		wrong = tpl.decode(&raw)
	}
	if wrong != nil {
		l.problems = append(l.problems, wrong...)
		return
	}
	l.parts(tpl, &raw.Spec, []string{"spec"})
	l.names(d, use.With.Bindings, append(keys, "use", "with", "bindings")...)
	s.bindings = slices.Concat(s.bindings, raw.Spec.Bindings, use.With.Bindings)
	if len(raw.Spec.Try) == 0 {
		l.add(noOperation.At(tpl.At("spec", "try"), "the template has no operation"))
	}
	l.try(tpl, t, s, raw.Spec.Try, []string{"spec"}, from)
}
