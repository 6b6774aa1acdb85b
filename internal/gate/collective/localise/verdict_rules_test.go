package localise_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

// times repeats a bad pair until it names a link.
func times(n int, a, b string) []localise.Result {
	return slices.Repeat([]localise.Result{pair(a, b, true)}, n)
}

// The rest lacks one end of each bad link: the end of most bad links, or the first.
func TestTheRestLacksOneEndOfEachBadLink(t *testing.T) {
	t.Parallel()
	nodes := []string{"a", "b", "c", "d", "e", "f"}
	paths := [][2]string{{"a", "b"}, {"c", "d"}, {"e", "f"}}
	for name, tt := range map[string]struct {
		bad         [][2]string
		links, rest string
	}{
		"none":                          {nil, "[]", "[a b c d e f]"},
		"a link":                        {[][2]string{{"a", "c"}}, "[[a c]]", "[b c d e f]"},
		"two links of the second end":   {[][2]string{{"a", "c"}, {"c", "e"}}, "[[a c] [c e]]", "[a b d e f]"},
		"two links of the last end":     {[][2]string{{"a", "e"}, {"c", "e"}}, "[[a e] [c e]]", "[a b c d f]"},
		"two links of the first end":    {[][2]string{{"c", "e"}, {"c", "f"}}, "[[c e] [c f]]", "[a b d e f]"},
		"two links without common ends": {[][2]string{{"a", "c"}, {"d", "e"}}, "[[a c] [d e]]", "[b c e f]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := []localise.Result{pair("a", "b", false), pair("c", "d", false), pair("e", "f", false)}
			for _, l := range tt.bad {
				results = append(results, times(3, l[0], l[1])...)
			}
			step := localise.Search{Nodes: nodes, Paths: paths}.Next(results)
			if fmt.Sprint(step.Links) != tt.links || fmt.Sprint(step.Rest) != tt.rest || len(step.Nodes) > 0 {
				t.Errorf("%+v, want links %s and rest %s", step, tt.links, tt.rest)
			}
		})
	}
}

// A node with a good run and three bad partners is contradictory: none of its pairs is a bad link,
// whichever end it is.
func TestNoLinkOfAContradictoryNode(t *testing.T) {
	t.Parallel()
	nodes := []string{"a", "b", "c", "d", "e", "f"}
	for _, node := range []string{"a", "f"} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			results := []localise.Result{pair("b", "c", false), pair("c", "d", false), pair("d", "e", false), pair(node, "e", false)}
			for _, other := range []string{"b", "c", "d"} {
				results = append(results, times(3, node, other)...)
			}
			step := localise.Search{Nodes: nodes, Paths: [][2]string{{"b", "c"}, {"d", "e"}}}.Next(results)
			if len(step.Nodes)+len(step.Links) > 0 || fmt.Sprint(step.Contradictory) != "["+node+"]" || step.Complete {
				t.Errorf("%+v, want only the contradictory %s", step, node)
			}
		})
	}
}

// A run of the rest that is good once and bad once is not good.
func TestARestWithAGoodAndABadRunIsNotComplete(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d"}, Paths: [][2]string{{"a", "b"}, {"c", "d"}}}
	step := s.Next([]localise.Result{pair("a", "b", false), pair("c", "d", false), {Nodes: s.Nodes, Ran: true}, {Nodes: s.Nodes, Ran: true, Bad: true}})
	if step.Complete || len(step.Nodes)+len(step.Links) > 0 {
		t.Errorf("%+v", step)
	}
}

// Where every pair is bad, each node runs alone at the end; a good run alone clears no node.
func TestNodesRunAloneWhereEveryPairIsBad(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d"}, Paths: [][2]string{{"a", "b"}, {"c", "d"}}}
	var results []localise.Result
	alone := map[string]int{}
	for rounds := 0; ; rounds++ {
		step := s.Next(results)
		if step.Complete || len(step.Nodes)+len(step.Links)+len(step.Contradictory) > 0 {
			t.Fatalf("%+v: no run shows that", step)
		}
		if len(step.Round) == 0 {
			break
		}
		if rounds > 30 {
			t.Fatal("no end")
		}
		for _, g := range step.Round {
			results = append(results, localise.Result{Nodes: g, Ran: true, Bad: len(g) > 1})
			if len(g) == 1 {
				alone[g[0]]++
			}
		}
	}
	if fmt.Sprint(alone) != "map[a:1 b:1 c:1 d:1]" {
		t.Errorf("each node runs alone once: %v", alone)
	}
}

// Pairs accuse a node, larger groups do not; a good run alone takes back no good run with others.
func TestWhatAccusesANode(t *testing.T) {
	t.Parallel()
	group := func(bad bool, nodes ...string) localise.Result {
		return localise.Result{Nodes: nodes, Ran: true, Bad: bad}
	}
	good := []localise.Result{pair("b", "c", false), pair("c", "d", false), pair("d", "e", false)}
	accused := []localise.Result{pair("a", "b", true), pair("a", "c", true), pair("a", "d", true)}
	for name, tt := range map[string]struct {
		results       []localise.Result
		nodes, doubts string
	}{
		"bad pairs":                      {slices.Concat(good, accused), "[a]", "[]"},
		"bad groups":                     {slices.Concat(good, []localise.Result{group(true, "a", "b", "c"), group(true, "a", "c", "d"), group(true, "a", "d", "e")}), "[]", "[]"},
		"bad pairs and a good run alone": {slices.Concat(good, accused, []localise.Result{group(false, "a")}), "[a]", "[]"},
		"bad pairs, a good one and a good run alone": {slices.Concat(good, accused, []localise.Result{group(false, "a", "e"), group(false, "a")}), "[]", "[a]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := localise.Search{Nodes: []string{"a", "b", "c", "d", "e"}, Paths: [][2]string{{"b", "c"}}}.Next(tt.results)
			if fmt.Sprint(step.Nodes) != tt.nodes || fmt.Sprint(step.Contradictory) != tt.doubts || step.Complete {
				t.Errorf("%+v, want nodes %s, contradictory %s", step, tt.nodes, tt.doubts)
			}
		})
	}
}
