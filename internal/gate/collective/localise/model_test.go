package localise_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/firstlight/firstlight/internal/gate/collective/localise"
)

// fabric is a cluster with bad nodes and bad links. A run is as fast as its slowest node and the
// slowest of its links.
type fabric struct {
	nodes []string
	// slow are factors of the bandwidth by node, and by link.
	slow  map[string]float64
	links map[[2]string]float64
	// anyPair: a link slows every group that has both of its nodes, not only those with a
	// channel between them.
	anyPair bool
	// noise is the standard deviation of a measured bandwidth.
	noise float64
	rng   *rand.Rand
}

// limit is the fraction of the healthy bandwidth below which a run is bad, as minFraction of the
// profiles.
const limit = 0.92

func newFabric(seed uint64, n int, noise float64) *fabric {
	f := &fabric{slow: map[string]float64{}, links: map[[2]string]float64{}, noise: noise, rng: rand.New(rand.NewPCG(seed, 1))}
	for i := range n {
		f.nodes = append(f.nodes, fmt.Sprintf("gpu-%03d", i+1))
	}
	return f
}

// bandwidth of a group, as a fraction of the healthy one.
func (f *fabric) bandwidth(group []string) float64 {
	bw := 1.0
	for _, n := range group {
		if slow, ok := f.slow[n]; ok {
			bw = min(bw, slow)
		}
	}
	var used [][2]string
	if !f.anyPair && len(f.links) > 0 {
		used = channels(group)
	}
	for l, slow := range f.links {
		exercised := slices.Contains(used, l) || slices.Contains(used, [2]string{l[1], l[0]})
		if f.anyPair {
			exercised = slices.Contains(group, l[0]) && slices.Contains(group, l[1])
		}
		if exercised {
			bw = min(bw, slow)
		}
	}
	return bw * (1 + f.noise*f.rng.NormFloat64())
}

func (f *fabric) run(group []string) localise.Result {
	return localise.Result{Nodes: group, Ran: true, Bad: f.bandwidth(group) < limit}
}

func (f *fabric) search() localise.Search {
	return localise.Search{Nodes: f.nodes, Paths: channels(f.nodes)}
}

// channels are the pairs of nodes that NCCL connects: the ring in the order of ranks, and the two
// binary trees (src/graph/trees.cc: ncclGetBtree, ncclGetDtree).
func channels(nodes []string) [][2]string {
	n := len(nodes)
	var out [][2]string
	seen := map[[2]int]bool{}
	add := func(a, b int) {
		p := [2]int{min(a, b), max(a, b)}
		if p[0] < 0 || a == b || seen[p] {
			return
		}
		seen[p] = true
		out = append(out, [2]string{nodes[p[0]], nodes[p[1]]})
	}
	for i := range n {
		add(i, (i+1)%n)
	}
	for i := range n {
		add(i, parent(n, i))
		if n%2 == 1 { // the second tree is shifted
			up := parent(n, (i-1+n)%n)
			if up >= 0 {
				add(i, (up+1)%n)
			}
		} else if up := parent(n, n-1-i); up >= 0 { // or mirrored
			add(i, n-1-up)
		}
	}
	return out
}

// parent of a rank in NCCL's binary tree; -1 of the root.
func parent(n, rank int) int {
	if rank == 0 {
		return -1
	}
	bit := 1
	for bit&rank == 0 {
		bit <<= 1
	}
	up := (rank ^ bit) | (bit << 1)
	if up >= n {
		up = rank ^ bit
	}
	return up
}
