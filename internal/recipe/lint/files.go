package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// files checks the files of a tree and their references.
func files(t *tree.Tree) diag.List {
	l := &linter{t: t}
	l.overlay(t.Base)
	seen := map[criteria.Criteria]*tree.Overlay{}
	for _, o := range t.Overlays {
		l.overlay(o)
		l.named(o)
		l.criteria(o)
		if first, twice := seen[o.Criteria]; twice && o.Applies {
			l.at(rule.SameCriteria, o.File, []string{"spec", "criteria"}, "%s has the same criteria as %s: %s", o.Name, first.Name, o.Criteria)
		} else if o.Applies {
			seen[o.Criteria] = o
		}
	}
	l.registry()
	l.unused()
	return l.problems
}

type linter struct {
	t        *tree.Tree
	problems diag.List
}

func (l *linter) at(r diag.Rule, file string, keys []string, format string, args ...any) {
	l.problems = append(l.problems, r.At(l.t.ValuePos(file, keys...), format, args...))
}

func (l *linter) overlay(o *tree.Overlay) {
	for i, c := range o.Spec.Constraints {
		keys := []string{"spec", "constraints", strconv.Itoa(i), "name"}
		p, err := constraint.ParsePath(c.Name)
		switch {
		case c.Name == "":
		case err != nil:
			l.at(rule.ConstraintPath, o.File, keys, "%s", err)
		case !slices.Contains(constraint.Types(), p.Type):
			l.at(rule.ConstraintPath, o.File, keys, "unknown measurement type %s: want one of %s", p.Type, strings.Join(constraint.Types(), ", "))
		}
	}
	if o.Spec.Validation != nil {
		l.validation(o.File, o.Spec.Validation)
	}
	if p := o.Spec.Profile; p != nil {
		l.profile(o.File, p)
	}
}

func (l *linter) validation(file string, v *model.Validation) {
	for _, name := range model.PhaseNames() {
		phase := *v.Phase(name)
		if phase == nil {
			continue
		}
		keys := []string{"spec", "validation", name}
		if phase.Timeout != "" {
			if d, err := time.ParseDuration(phase.Timeout); err != nil || d <= 0 {
				l.at(diag.BadValue, file, append(keys, "timeout"), "invalid timeout %q: must be like 90s, 10m or 1h", phase.Timeout)
			}
		}
		for i, check := range phase.Checks {
			at := append(slices.Clone(keys), "checks", strconv.Itoa(i))
			v, ok := l.t.Validators[check]
			switch {
			case len(l.t.Validators) == 0: // without a catalogue, check names cannot be verified
			case !ok:
				l.at(rule.UnknownCheck, file, at, "check %s not found%s", check, l.meant(check))
			case v.Phase != name:
				l.at(rule.CheckPhase, file, at, "check %s has the phase %s in the catalogue, but is listed in %s", check, v.Phase, name)
			}
		}
	}
}

func (l *linter) meant(check string) string {
	var names []string
	for name := range l.t.Validators {
		names = append(names, name)
	}
	if near := diag.Nearest(check, names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// named compares the file name with the overlay's name.
func (l *linter) named(o *tree.Overlay) {
	if file := strings.TrimSuffix(path.Base(o.File), ".yaml"); file != o.Name {
		l.at(rule.FileName, o.File, []string{"metadata", "name"}, "%s is in the file %s", o.Name, path.Base(o.File))
	}
}

// criteria checks the criteria for typos and compares them with those of the bases.
func (l *linter) criteria(o *tree.Overlay) {
	if !o.Applies {
		if o.Children == 0 {
			l.at(rule.Unreachable, o.File, []string{"metadata", "name"}, "%s has no criteria and is not the base of another overlay", o.Name)
		}
		return
	}
	for _, d := range o.Criteria.Stated() {
		known := criteria.Known(d)
		if value := o.Criteria.Get(d); len(known) > 0 && !slices.Contains(known, value) {
			if near := diag.Nearest(value, known); near != "" {
				l.at(rule.CriteriaValue, o.File, []string{"spec", "criteria", string(d)}, "unknown %s %s: did you mean %s?", d, value, near)
			}
		}
	}
	for a := o.Parent; a != nil; a = a.Parent {
		if d := o.Criteria.Contradicts(a.Criteria); d != "" {
			l.at(rule.BaseCriteria, o.File, []string{"spec", "criteria", string(d)}, "%s has %s=%s but is based on %s, which has %s=%s",
				o.Name, d, o.Criteria.Get(d), a.Name, d, a.Criteria.Get(d))
			return
		}
	}
}
