package resolve

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// exclusion lists excluded overlays with reasons.
type exclusion struct {
	why      map[*tree.Overlay]string
	overlays []model.ExcludedOverlay
	warnings []model.ConstraintWarning
}

func (e *exclusion) has(o *tree.Overlay) bool { return e.why[o] != "" }

// exclude checks the matching overlays against the snapshot. An overlay is excluded if a
// constraint of its own, of its mixins or of its bases does not hold. Constraints of severity
// warning, and those of the root, only warn.
func exclude(t *tree.Tree, matched []*tree.Overlay, o Options) *exclusion {
	e := &exclusion{why: map[*tree.Overlay]string{}}
	if o.Snapshot == nil {
		return e
	}
	judged := map[*tree.Overlay]bool{}
	if !o.Compat {
		e.judge(t, t.Base, o)
		delete(e.why, t.Base)
	}
	for _, m := range matched {
		chain := m.Chain()
		if o.Compat {
			chain = chain[len(chain)-1:]
		}
		parent := ""
		for _, a := range chain {
			if !judged[a] {
				judged[a] = true
				e.judge(t, a, o)
			}
			if parent != "" && !e.has(a) {
				e.why[a] = "its base " + parent + " is excluded"
			}
			if e.has(a) {
				parent = a.Name
			}
		}
		if e.has(m) {
			e.overlays = append(e.overlays, model.ExcludedOverlay{Name: m.Name, Reason: e.why[m]})
		}
	}
	return e
}

func (e *exclusion) judge(t *tree.Tree, o *tree.Overlay, opts Options) {
	constraints := o.Spec.Constraints
	if !opts.Compat {
		for _, name := range o.Spec.Mixins {
			if m, ok := t.Mixins[name]; ok {
				constraints = append(constraints[:len(constraints):len(constraints)], m.Spec.Constraints...)
			}
		}
	}
	for _, c := range constraints {
		judge := constraint.Judge
		if opts.Compat {
			judge = constraint.JudgeLegacy
		}
		r := judge(c, opts.Snapshot)
		if r.Verdict == check.Passed {
			continue
		}
		e.warnings = append(e.warnings, model.ConstraintWarning{
			Overlay: o.Name, Constraint: c.Name, Expected: c.Value, Actual: r.Actual, Reason: fmt.Sprintf("%s: %s", r.Verdict, r.Reason),
		})
		if (c.Severity != "warning" || opts.Compat) && e.why[o] == "" {
			e.why[o] = fmt.Sprintf("constraint %s is %s", c.Name, r.Verdict)
		}
	}
}
