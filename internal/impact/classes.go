package impact

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// classes selects one recipe of each class to be tested for the others, in tiers 1 and 2. If
// the classes are unknown, every recipe is tested.
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
		err = checkPartition(names, groups)
	}
	if err != nil {
		p.Notes = append(p.Notes, "classes are unknown, testing every recipe: "+firstLine(err))
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

// checkPartition returns an error unless each name is in exactly one group.
func checkPartition(names []string, groups [][]string) error {
	seen := map[string]bool{}
	for _, g := range groups {
		if len(g) == 0 {
			return errors.New("class without members")
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
		return fmt.Errorf("class has the unexpected member %s", name)
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
