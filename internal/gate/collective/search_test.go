package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

// manyNodes is a site of more nodes than all pairs are run of.
func manyNodes(n int) *site.Site {
	s := testSite()
	s.Inventory.Nodes = nil
	for i := range n {
		s.Inventory.Nodes = append(s.Inventory.Nodes, site.Node{Name: fmt.Sprintf("gpu-%02d", i+1)})
	}
	return s
}

func TestManyNodesAreSearchedInRounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world    cluster
		suspects []string
		message  string
		most     int // observations
	}{
		"a node":               {cluster{slow: map[string]float64{"gpu-07": 0.6}}, []string{"gpu-07"}, "every pair with gpu-07 is bad", 30},
		"a node and a path":    {cluster{slow: map[string]float64{"gpu-03": 0.6}, slowPair: []string{"gpu-11", "gpu-12"}}, []string{"gpu-03", "gpu-11<->gpu-12"}, "bad with each other", 40},
		"everything":           {cluster{factor: 0.5}, []string{"cluster"}, "suspect a common cause", 60},
		"a path between rings": {cluster{slowPair: []string{"gpu-02", "gpu-09"}}, []string{"gpu-02<->gpu-09"}, "bad with each other", 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, manyNodes(16))
			j, obs := observeAndJudge(t, g, tt.world)
			if j.Verdict != check.Failed {
				t.Fatalf("%s: %s", j.Verdict, j.Reason)
			}
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
			}
			for _, want := range tt.suspects {
				if !slices.Contains(suspects, want) {
					t.Errorf("suspects %v, want %s", suspects, want)
				}
			}
			if len(suspects) > len(tt.suspects)+1 { // the run over all nodes is a finding, too
				t.Errorf("suspects %v, want %v", suspects, tt.suspects)
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.message) }) {
				t.Errorf("no finding says %q: %+v", tt.message, j.Findings)
			}
			if len(obs) > tt.most {
				t.Errorf("%d jobs, want at most %d", len(obs), tt.most)
			}
			if diff := cmp.Diff(j, g.Judge(obs)); diff != "" {
				t.Errorf("not the same twice: %s", diff)
			}
			if again := g.Judge(obs[:len(obs)/2]); again.Verdict != check.Failed {
				t.Errorf("a search that was interrupted is %s", again.Verdict)
			}
		})
	}
}

// The pairs of a search are those that the failed run connected.
func TestPathsAreTheChannelsOfTheFailedRun(t *testing.T) {
	t.Parallel()
	nodes := []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"}
	f := Figures{Nodes: nodes}
	ring := [][2]string{{"gpu-01", "gpu-02"}, {"gpu-02", "gpu-03"}, {"gpu-03", "gpu-04"}, {"gpu-01", "gpu-04"}}
	if diff := cmp.Diff(ring, paths(f)); diff != "" {
		t.Error(diff)
	}
	g := testGate(t, testSite())
	_, obs := observeAndJudge(t, g, cluster{})
	f, err := check.Decode[Figures](obs[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.NCCL.Channels { // a tree connects the first node with the third one
		if c := &f.NCCL.Channels[i]; c.From == 0 && c.To == 8 {
			c.To = 16
		}
	}
	if diff := cmp.Diff(append(ring, [2]string{"gpu-01", "gpu-03"}), paths(f)); diff != "" {
		t.Error(diff)
	}
}
