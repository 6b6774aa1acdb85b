package localise_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

func pair(a, b string, bad bool) localise.Result {
	return localise.Result{Nodes: []string{a, b}, Ran: true, Bad: bad}
}

func TestRules(t *testing.T) {
	t.Parallel()
	nodes := []string{"a", "b", "c", "d", "e", "f"}
	ring := [][2]string{{"a", "b"}, {"b", "c"}, {"c", "d"}, {"d", "e"}, {"e", "f"}, {"f", "a"}}
	others := []localise.Result{pair("c", "d", false), pair("e", "f", false), pair("b", "c", false), pair("d", "e", false)}
	for name, tt := range map[string]struct {
		results []localise.Result
		nodes   string
		links   string
		doubts  string
	}{
		"nothing":               {nil, "[]", "[]", "[]"},
		"a node bad with three": {append(others, pair("a", "b", true), pair("a", "f", true), pair("a", "d", true)), "[a]", "[]", "[]"},
		"a node bad with two":   {append(others, pair("a", "b", true), pair("a", "f", true)), "[]", "[]", "[]"},
		"a node bad with three that are in no good run": {[]localise.Result{pair("a", "b", true), pair("a", "f", true), pair("a", "d", true)}, "[]", "[]", "[]"},
		"a link bad three times":                        {append(others, pair("a", "b", true), pair("a", "b", true), pair("b", "a", true), pair("a", "f", false)), "[]", "[[a b]]", "[]"},
		"a link bad twice":                              {append(others, pair("a", "b", true), pair("a", "b", true), pair("a", "f", false)), "[]", "[]", "[]"},
		"a link that is good once":                      {append(others, pair("a", "b", true), pair("a", "b", true), pair("a", "b", true), pair("a", "b", false)), "[]", "[]", "[a<->b]"},
		"a node that is good once and bad with three":   {append(others, pair("a", "b", true), pair("a", "f", true), pair("a", "d", true), pair("a", "c", false)), "[]", "[]", "[a]"},
		"runs without result":                           {[]localise.Result{{Nodes: []string{"a", "b"}}, {Nodes: []string{"c", "d"}, Bad: true}}, "[]", "[]", "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := localise.Search{Nodes: nodes, Paths: ring}.Next(tt.results)
			got := []string{fmt.Sprint(step.Nodes), fmt.Sprint(step.Links), fmt.Sprint(step.Contradictory)}
			if diff := cmp.Diff([]string{tt.nodes, tt.links, tt.doubts}, got); diff != "" {
				t.Error(diff)
			}
			if step.Complete {
				t.Error("complete without a run over the other nodes")
			}
		})
	}
}

// Only a good run over the other nodes shows that no culprit is missing.
func TestASearchIsCompleteAfterAGoodRunOfTheOthers(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d"}, Paths: [][2]string{{"a", "b"}, {"c", "d"}}}
	results := []localise.Result{pair("a", "b", false), pair("c", "d", false)}
	step := s.Next(results)
	if diff := cmp.Diff([][]string{{"a", "b", "c", "d"}}, step.Round); diff != "" || step.Complete {
		t.Fatalf("complete %t, %s", step.Complete, diff)
	}
	for _, tt := range []struct {
		rest     localise.Result
		complete bool
		round    string
	}{
		{localise.Result{Nodes: s.Nodes, Ran: true}, true, "[]"},
		{localise.Result{Nodes: s.Nodes}, false, "[]"},
		{localise.Result{Nodes: s.Nodes, Ran: true, Bad: true}, false, "[[a c] [b d]]"},
	} {
		step := s.Next(append(results, tt.rest))
		if step.Complete != tt.complete || fmt.Sprint(step.Round) != tt.round {
			t.Errorf("%+v: complete %t, round %v", tt.rest, step.Complete, step.Round)
		}
	}
}

// A group that is bad although each of its parts is good names no node.
func TestAGroupThatIsBadOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d"}, Paths: [][2]string{{"a", "b"}, {"c", "d"}}}
	var results []localise.Result
	for rounds := 0; ; rounds++ {
		step := s.Next(results)
		if len(step.Round) == 0 {
			if diff := cmp.Diff([][]string{s.Nodes}, step.Together); diff != "" || len(step.Nodes)+len(step.Links) > 0 || step.Complete {
				t.Errorf("%+v: %s", step, diff)
			}
			return
		}
		if rounds > 10 {
			t.Fatal("no end")
		}
		for _, g := range step.Round {
			results = append(results, localise.Result{Nodes: g, Ran: true, Bad: len(g) > 3})
		}
	}
}

// Jobs that give no result end the search.
func TestASearchWithoutResultsEnds(t *testing.T) {
	t.Parallel()
	f := newFabric(1, 16, 0)
	var results []localise.Result
	for rounds := 0; ; rounds++ {
		step := f.search().Next(results)
		if len(step.Round) == 0 {
			if step.Complete || len(step.Nodes)+len(step.Links) > 0 {
				t.Errorf("%+v", step)
			}
			return
		}
		if rounds > 30 {
			t.Fatal("no end")
		}
		for _, g := range step.Round {
			results = append(results, localise.Result{Nodes: g})
		}
	}
}
