package localise_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

const (
	many  = 128
	seeds = 100
	noise = 0.015
)

// solve runs a search to its end and returns its last step, the number of rounds and of runs.
func solve(t *testing.T, f *fabric) (last localise.Step, rounds, runs int) {
	t.Helper()
	var results []localise.Result
	for {
		step := f.search().Next(results)
		if len(step.Round) == 0 {
			return step, rounds, runs
		}
		if rounds++; rounds > 200 {
			t.Fatal("no end")
		}
		busy := map[string]bool{}
		for _, group := range step.Round {
			for _, n := range group {
				if busy[n] {
					t.Fatalf("round %d runs %s twice", rounds, n)
				}
				busy[n] = true
			}
			results = append(results, f.run(group))
			runs++
		}
	}
}

// culprits breaks up to three nodes and links of the collective. A link of a bad node is not one
// of them: without the node it is not used.
func (f *fabric) culprits(most int) (nodes []string, links [][2]string) {
	paths := channels(f.nodes)
	for range 1 + f.rng.IntN(most) {
		factor := 0.5 + 0.35*f.rng.Float64()
		if f.rng.IntN(2) == 0 {
			n := f.nodes[f.rng.IntN(len(f.nodes))]
			if !slices.ContainsFunc(links, func(l [2]string) bool { return slices.Contains(l[:], n) }) {
				f.slow[n] = factor
			}
		} else if l := paths[f.rng.IntN(len(paths))]; f.slow[l[0]] == 0 && f.slow[l[1]] == 0 {
			f.links[l] = factor
			links = append(links, l)
		}
	}
	links = nil
	for l := range f.links {
		links = append(links, l)
	}
	for n := range f.slow {
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	sortLinks(links)
	return nodes, links
}

func sortLinks(links [][2]string) {
	slices.SortFunc(links, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
}

func TestCulpritsAmong128NodesAreNamedInLogarithmicRounds(t *testing.T) {
	t.Parallel()
	bound := int(2 * math.Log2(many))
	for _, anyPair := range []bool{false, true} {
		most, total := 0, 0
		for seed := range uint64(seeds) {
			f := newFabric(seed, many, noise)
			f.anyPair = anyPair
			nodes, links := f.culprits(3)
			step, rounds, _ := solve(t, f)
			sortLinks(step.Links)
			if diff := cmp.Diff(nodes, step.Nodes); diff != "" && len(nodes)+len(step.Nodes) > 0 {
				t.Errorf("seed %d: nodes %s", seed, diff)
			}
			if diff := cmp.Diff(links, step.Links); diff != "" && len(links)+len(step.Links) > 0 {
				t.Errorf("seed %d: links %s", seed, diff)
			}
			if !step.Complete {
				t.Errorf("seed %d: no run shows that nothing else is slow", seed)
			}
			if rounds > bound {
				t.Errorf("seed %d: %d rounds, want at most %d", seed, rounds, bound)
			}
			most, total = max(most, rounds), total+rounds
		}
		t.Logf("any pair %t: at most %d rounds, %.1f on average", anyPair, most, float64(total)/seeds)
	}
}

func TestNobodyIsNamedInAHealthyCluster(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		step, _, _ := solve(t, newFabric(seed, many, 0.025))
		if len(step.Nodes)+len(step.Links) > 0 {
			t.Errorf("seed %d: %v %v", seed, step.Nodes, step.Links)
		}
	}
}

// A link that the collective does not use is found by halving, if it slows a group.
func TestALinkWithoutChannelIsFoundByHalving(t *testing.T) {
	t.Parallel()
	most := 0
	for seed := range uint64(seeds) {
		f := newFabric(seed, many, noise)
		f.anyPair = true
		a := f.rng.IntN(many - 1)
		l := [2]string{f.nodes[a], f.nodes[a+1+f.rng.IntN(many-1-a)]}
		f.links[l] = 0.6
		step, rounds, _ := solve(t, f)
		if diff := cmp.Diff([][2]string{l}, step.Links); diff != "" || len(step.Nodes) > 0 || !step.Complete {
			t.Errorf("seed %d: %v, complete %t: %s", seed, step.Nodes, step.Complete, diff)
		}
		most = max(most, rounds)
	}
	t.Logf("at most %d rounds", most)
}
