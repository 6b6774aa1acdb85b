package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// A group of one node has no collective between nodes: its gate passes, and the run is lowered.
func TestGroupOfOneNodeIsLowered(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(s.Profile)
	if err != nil {
		t.Fatal(err)
	}
	for nodes, want := range map[int]bool{1: true, 2: false} {
		s.Groups = []site.Group{{Name: "new", Profile: p.Name, Figures: p, Nodes: s.NodeNames()[:nodes]}}
		lowered := map[string][]string{}
		for _, g := range gates(s, p, Access{}) {
			if l, ok := g.(plan.Lowers); ok {
				lowered[g.Name()] = l.Lowered()
			}
		}
		got := slices.ContainsFunc(lowered["collective"], func(text string) bool { return strings.HasPrefix(text, "new: one node") })
		if got != want {
			t.Errorf("a group of %d: %v", nodes, lowered)
		}
		if slices.ContainsFunc(lowered["training"], func(text string) bool { return strings.Contains(text, "one node") }) {
			t.Errorf("gate training: %v", lowered["training"])
		}
	}
}
