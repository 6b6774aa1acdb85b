package collective

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

func TestTournamentMeetsEachPairOnce(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 9; n++ {
		var nodes []string
		for i := range n {
			nodes = append(nodes, fmt.Sprintf("n%d", i))
		}
		met := map[string]int{}
		for _, round := range tournament(nodes) {
			busy := map[string]bool{}
			for _, pair := range round {
				met[pair[0]+pair[1]]++
				for _, node := range pair {
					if busy[node] {
						t.Errorf("%d nodes: %s twice in a round", n, node)
					}
					busy[node] = true
				}
			}
		}
		if len(met) != n*(n-1)/2 {
			t.Errorf("%d nodes: %d pairs", n, len(met))
		}
		for pair, times := range met {
			if times != 1 {
				t.Errorf("%d nodes: %s %d times", n, pair, times)
			}
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	pair := func(a, b string, bad bool) trial { return trial{nodes: []string{a, b}, ran: true, bad: bad} }
	nodes := []string{"a", "b", "c", "d"}
	tests := map[string]struct {
		trials []trial
		want   classes
	}{
		"nothing":            {nil, classes{open: nodes}},
		"one round":          {[]trial{pair("a", "d", true), pair("b", "c", false)}, classes{cleared: []string{"b", "c"}, open: []string{"a", "d"}}},
		"second round":       {[]trial{pair("a", "d", true), pair("b", "c", false), pair("a", "b", true), pair("c", "d", false)}, classes{cleared: []string{"b", "c", "d"}, guilty: []string{"a"}}},
		"a link":             {[]trial{pair("a", "d", true), pair("b", "c", false), pair("a", "b", false), pair("c", "d", false)}, classes{cleared: nodes, links: [][]string{{"a", "d"}}}},
		"all bad":            {[]trial{pair("a", "d", true), pair("b", "c", true)}, classes{open: nodes}},
		"did not run counts": {[]trial{{nodes: []string{"a", "d"}}, pair("b", "c", false)}, classes{cleared: []string{"b", "c"}, open: []string{"a", "d"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, classify(nodes, tt.trials), cmp.AllowUnexported(classes{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNextEnds(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	var tried []Figures
	for rounds := 0; ; rounds++ {
		groups := g.next(Figures{Nodes: every()}, tried)
		if len(groups) == 0 {
			return
		}
		if rounds > 20 {
			t.Fatal("no end")
		}
		for _, nodes := range groups { // jobs that say nothing
			tried = append(tried, Figures{Nodes: nodes, Outcome: notRun()})
		}
	}
}

func notRun() gangjob.Outcome { return gangjob.Outcome{Ended: gangjob.EndedNotRun} }
