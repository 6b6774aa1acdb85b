package impact

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
)

// affected selects the generic recipes and those that the change affects.
func (m *maker) affected(ctx context.Context, p *Plan, names []string) error {
	if m.head.Err != nil {
		p.Everything = "the recipe tree is invalid: " + firstLine(m.head.Err)
	} else if err := m.compare(p); err != nil {
		p.Everything = err.Error()
	}
	candidates, before, err := m.resolve(ctx, p, names)
	if err != nil {
		return err
	}
	for _, name := range names {
		var reasons []Reason
		switch {
		case p.Everything != "":
			reasons = append(reasons, Reason{Via: ViaEverything, Text: p.Everything})
		case len(p.Harness.Changes) > 0:
			reasons = append(reasons, harnessReason(p.Harness.Changes))
		case candidates[name]:
			reasons = m.reasons(name, before[name])
		}
		m.add(p, name, reasons)
	}
	m.removed(p, names)
	return nil
}

// resolve resolves the recipes that may need a test, and the candidates at the base as well.
func (m *maker) resolve(ctx context.Context, p *Plan, names []string) (candidates map[string]bool, before map[string]Measured, err error) {
	if p.Everything != "" || len(p.Harness.Changes) > 0 {
		m.measured, err = m.head.Measure(ctx, names)
		return nil, nil, err
	}
	if candidates, err = m.candidates(ctx, names); err != nil {
		return nil, nil, err
	}
	var both, after []string
	for _, name := range names {
		if candidates[name] {
			both = append(both, name)
		}
		if o, ok := m.head.Tree.Overlay(name); candidates[name] || ok && o.Generic() {
			after = append(after, name)
		}
	}
	if m.measured, err = m.head.Measure(ctx, after); err != nil {
		return nil, nil, err
	}
	before, err = m.base.Measure(ctx, both)
	return candidates, before, err
}

func (m *maker) add(p *Plan, name string, reasons []Reason) {
	tier := Affected
	if o, ok := m.head.Tree.Overlay(name); ok && o.Generic() {
		tier = Generic
		reasons = append([]Reason{{Via: ViaGeneric, Text: "covers a service with any accelerator"}}, reasons...)
	}
	s := m.selected(name, tier, reasons...)
	if len(s.Reasons) > 0 {
		p.Recipes = append(p.Recipes, s)
	}
}

// compare loads the base. The error is the reason why no comparison is possible.
func (m *maker) compare(p *Plan) error {
	if m.in.Incomparable != "" {
		return fmt.Errorf("%s", m.in.Incomparable)
	}
	if m.in.Base.FS == nil {
		return fmt.Errorf("no recipe tree at %s", m.in.Base.Name)
	}
	m.base = Load(m.in.Base, m.cache)
	if m.base.Err != nil {
		return fmt.Errorf("the recipe tree before the change is invalid: %s", firstLine(m.base.Err))
	}
	named := references(m.base.Tree)
	for f := range references(m.head.Tree) {
		named[f] = true
	}
	for _, c := range m.in.Changes {
		if Matches(p.Harness.Globs, c.Path) {
			continue
		}
		if rest, ok := below(m.in.Tree, c.Path); ok && !isKnown(rest, named) {
			return fmt.Errorf("%s was %s, and its effect is unknown", c.Path, c.Kind)
		}
	}
	return nil
}

func (m *maker) candidates(ctx context.Context, names []string) (map[string]bool, error) {
	files := map[string]bool{}
	for _, c := range m.in.Changes {
		if rest, ok := below(m.in.Tree, c.Path); ok {
			files[rest] = true
		}
	}
	return candidates(ctx, m.base, m.head, files, names)
}

// reasons lists the differences of a candidate; none if it is unchanged.
func (m *maker) reasons(name string, before Measured) []Reason {
	now := m.measured[name]
	o, _ := m.head.Tree.Overlay(name)
	switch {
	case before.Digest == "" && before.Err == nil:
		return []Reason{{Via: ViaNew, Path: o.File, Change: git.Added}}
	case before.Err != nil:
		return []Reason{{Via: ViaBrokenBefore, Text: firstLine(before.Err)}}
	case now.Err != nil || before.Digest == now.Digest: // selected adds the reason for a broken recipe
		return nil
	default:
		return different(o.File, before.Inputs, now.Inputs)
	}
}

// removed lists deleted recipes. If the head is invalid and still has the file, the file could
// not be parsed and its recipe is selected.
func (m *maker) removed(p *Plan, names []string) {
	if m.base == nil && m.in.Base.FS != nil && m.in.Incomparable == "" {
		m.base = Load(m.in.Base, m.cache)
	}
	if m.base == nil {
		return
	}
	for _, name := range m.base.Names() {
		if _, found := slices.BinarySearch(names, name); found {
			continue
		}
		o, _ := m.base.Tree.Overlay(name)
		if m.head.Err != nil && slices.Contains(m.head.Tree.Paths, o.File) {
			p.Total++
			m.add(p, name, []Reason{{Via: ViaEverything, Text: p.Everything}})
			continue
		}
		p.Removed = append(p.Removed, name)
	}
}

func harnessReason(changes []git.Change) Reason {
	r := Reason{Via: ViaHarness, Path: changes[0].Path, Change: changes[0].Kind}
	if n := len(changes) - 1; n > 0 {
		r.Text = fmt.Sprintf("and %d more", n)
	}
	return r
}
