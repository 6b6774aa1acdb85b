package impact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// classes lets one recipe of each class stand for the others of it, in tiers 1 and 2.
// When the classes can't be told, each stands for itself.
func (m *maker) classes(p *Plan) {
	if m.in.Classes == nil {
		return
	}
	var names []string
	at := map[string]int{}
	for i, s := range p.Recipes {
		if s.Digest != "" && (s.Tier == Generic || s.Tier == Affected) {
			names = append(names, s.Recipe)
			at[s.Recipe] = i
		}
	}
	if len(names) == 0 {
		return
	}
	groups, err := m.in.Classes(m.head.Tree, names)
	if err == nil {
		err = partition(names, groups)
	}
	if err != nil {
		p.Notes = append(p.Notes, "each recipe stands for itself: the classes can't be told: "+firstLine(err))
		return
	}
	for _, group := range groups {
		one := &p.Recipes[at[group[0]]]
		for _, name := range group[1:] {
			other := &p.Recipes[at[name]]
			one.Tier = min(one.Tier, other.Tier)
			one.StandsFor = append(one.StandsFor, name)
			other.TestedBy = group[0]
		}
		slices.Sort(one.StandsFor)
	}
}

// partition says what is wrong with groups in which each name must be exactly once.
func partition(names []string, groups [][]string) error {
	seen := map[string]bool{}
	for _, g := range groups {
		if len(g) == 0 {
			return errors.New("there is a class without members")
		}
		for _, name := range g {
			if seen[name] {
				return fmt.Errorf("%s is in two classes", name)
			}
			seen[name] = true
		}
	}
	for _, name := range names {
		if !seen[name] {
			return fmt.Errorf("%s is in no class", name)
		}
		delete(seen, name)
	}
	for name := range seen {
		return fmt.Errorf("%s is in a class, and was not asked for", name)
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
