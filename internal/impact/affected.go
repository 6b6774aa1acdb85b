package impact

import (
	"context"
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/impact/git"
)

// affected selects the generic recipes, and those that the change affects.
func (m *maker) affected(ctx context.Context, p *Plan, names []string) error {
	if m.head.Err != nil {
		p.Everything = "the tree can't be used: " + firstLine(m.head.Err)
	} else if err := m.compare(p); err != nil {
		p.Everything = err.Error()
	}
	candidates, before, err := m.look(ctx, p, names)
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
	m.gone(p, names)
	return nil
}

// look resolves the recipes that may have to be tested; of the candidates, on both
// sides.
func (m *maker) look(ctx context.Context, p *Plan, names []string) (candidates map[string]bool, before map[string]Measured, err error) {
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

// add selects a recipe if there is a reason to.
func (m *maker) add(p *Plan, name string, reasons []Reason) {
	tier := Affected
	if o, ok := m.head.Tree.Overlay(name); ok && o.Generic() {
		tier = Generic
		reasons = append([]Reason{{Via: ViaGeneric, Text: "a service, whatever the accelerator"}}, reasons...)
	}
	s := m.selected(name, tier, reasons...)
	if len(s.Reasons) > 0 {
		p.Recipes = append(p.Recipes, s)
	}
}

// compare loads the base; the error says why it can't be compared with.
func (m *maker) compare(p *Plan) error {
	if m.in.Incomparable != "" {
		return fmt.Errorf("%s", m.in.Incomparable)
	}
	if m.in.Base.FS == nil {
		return fmt.Errorf("there was no recipe tree at %s", m.in.Base.Name)
	}
	m.base = Load(m.in.Base, m.cache)
	if m.base.Err != nil {
		return fmt.Errorf("the tree before the change can't be used: %s", firstLine(m.base.Err))
	}
	named := references(m.base.Tree)
	for f := range references(m.head.Tree) {
		named[f] = true
	}
	for _, c := range m.in.Changes {
		if Matches(p.Harness.Globs, c.Path) {
			continue
		}
		if rest, ok := below(m.in.Tree, c.Path); ok && !known(rest, named) {
			return fmt.Errorf("%s was %s, and it is not known what it is for", c.Path, c.Kind)
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

// reasons are in what a candidate differs; none when it is the same.
func (m *maker) reasons(name string, before Measured) []Reason {
	now := m.measured[name]
	o, _ := m.head.Tree.Overlay(name)
	switch {
	case before.Digest == "" && before.Err == nil:
		return []Reason{{Via: ViaNew, Path: o.File, Change: git.Added}}
	case before.Err != nil:
		return []Reason{{Via: ViaBrokenBefore, Text: firstLine(before.Err)}}
	case now.Err != nil || before.Digest == now.Digest: // a broken one gets its reason from selected
		return nil
	default:
		return different(o.File, before.Inputs, now.Inputs)
	}
}

// gone lists recipes that are not there any more. Where the tree can't be used they
// may be in files that could not be read; then they are selected.
func (m *maker) gone(p *Plan, names []string) {
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

// harnessReason names the first of the changes.
func harnessReason(changes []git.Change) Reason {
	r := Reason{Via: ViaHarness, Path: changes[0].Path, Change: changes[0].Kind}
	if n := len(changes) - 1; n > 0 {
		r.Text = fmt.Sprintf("and %d more", n)
	}
	return r
}
