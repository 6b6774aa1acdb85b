package localise_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

// mostTries is the number of runs of a suspect node or link: three for each of the three bad runs
// that name it.
const mostTries = 9

// runsWithout repeats a search in which no further run has a result, and counts the runs that
// include all nodes of a group.
func runsWithout(t *testing.T, s localise.Search, results []localise.Result, of ...string) int {
	t.Helper()
	count := 0
	for _, r := range results {
		if includes(r.Nodes, of) {
			count++
		}
	}
	for rounds := 0; ; rounds++ {
		step := s.Next(results)
		if len(step.Nodes)+len(step.Links) > 0 || step.Complete {
			t.Fatalf("%+v: no run shows that", step)
		}
		if len(step.Round) == 0 {
			return count
		}
		if rounds > 50 {
			t.Fatal("no end")
		}
		for _, g := range step.Round {
			results = append(results, localise.Result{Nodes: g})
			if len(g) == 2 && includes(g, of) {
				count++
			}
		}
	}
}

func includes(group, of []string) bool {
	return !slices.ContainsFunc(of, func(n string) bool { return !slices.Contains(group, n) })
}

// A suspect node or link whose runs give no result is run nine times, whichever end it is: neither
// once, which would name nothing in a cluster that loses runs, nor without end.
func TestASuspectWithoutResultsIsRunNineTimes(t *testing.T) {
	t.Parallel()
	f := newFabric(1, 14, 0)
	first, last := f.nodes[0], f.nodes[13]
	for name, tt := range map[string]struct {
		bad []string
		// cleared: both ends were in a good run, so that the link is the suspect.
		cleared bool
		of      []string
	}{
		"the first node": {[]string{first, f.nodes[1]}, false, []string{first}},
		"the last node":  {[]string{f.nodes[1], last}, false, []string{last}},
		"a link":         {[]string{first, last}, true, []string{first, last}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := []localise.Result{pair(tt.bad[0], tt.bad[1], true)}
			for i := 1; i+1 < 13; i += 2 {
				results = append(results, pair(f.nodes[i], f.nodes[i+1], false))
			}
			if tt.cleared {
				results = append(results, pair(first, f.nodes[1], false), pair(last, f.nodes[2], false))
			}
			if got := runsWithout(t, localise.Search{Nodes: f.nodes}, results, tt.of...); got != mostTries {
				t.Errorf("%d runs, want %d", got, mostTries)
			}
		})
	}
}

// A node that no run names stays in the rest, also where none of its runs had a result: a good run
// without it would call the search complete.
func TestANodeWithoutResultsIsInTheRest(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d", "e"}, Paths: [][2]string{{"d", "e"}}}
	results := []localise.Result{pair("a", "b", false), pair("c", "d", false), {Nodes: []string{"d", "e"}}, {Nodes: []string{"a", "b", "c", "d"}, Ran: true}}
	step := s.Next(results)
	if fmt.Sprint(step.Rest) != "[a b c d e]" || step.Complete {
		t.Errorf("%+v, want the rest of all nodes", step)
	}
}

// A node that is bad with two is neither a culprit nor good: the rest is without it.
func TestAnUnconfirmedNodeIsNotInTheRest(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c"}}
	results := []localise.Result{pair("b", "c", false), pair("a", "b", true), {Nodes: []string{"a", "c"}}}
	if step := s.Next(results); fmt.Sprint(step.Rest) != "[b c]" || len(step.Nodes) > 0 {
		t.Errorf("%+v, want the rest without a", step)
	}
}

// A node that is named already is not run again, although nodes are left that it did not run with.
func TestANamedNodeIsNotRunAgain(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b", "c", "d", "e", "f"}}
	results := []localise.Result{pair("b", "c", false), pair("d", "e", false), pair("e", "f", false), pair("a", "b", true), pair("a", "c", true), pair("a", "d", true)}
	step := s.Next(results)
	if fmt.Sprint(step.Nodes) != "[a]" || fmt.Sprint(step.Round) != "[[b c d e f]]" {
		t.Errorf("%+v, want a and a run of the others", step)
	}
}

// A link has two ends in the search: a bad pair with a node outside it names no link.
func TestNoLinkToANodeOutsideTheSearch(t *testing.T) {
	t.Parallel()
	s := localise.Search{Nodes: []string{"a", "b"}}
	results := append([]localise.Result{pair("a", "b", false), pair("x", "y", false)}, times(3, "a", "x")...)
	if step := s.Next(results); len(step.Links)+len(step.Nodes) > 0 {
		t.Errorf("%+v", step)
	}
}
