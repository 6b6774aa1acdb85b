package mutants

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// leastOfPackage is how many mutants of each package a sample has, where it has as many.
const leastOfPackage = 4

// shares divides a sample between packages of these sizes, by size; each has its least.
func shares(sizes []int, sample int) []int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	out := make([]int, len(sizes))
	for i, n := range sizes {
		out[i] = n
		if sample > 0 && sample < total {
			out[i] = min(n, max(leastOfPackage, (sample*n+total/2)/total))
		}
	}
	return out
}

// choose takes n mutants: the same for the same seed, and for others others. A mutant that
// did not change is as likely as before to be chosen, however its lines move.
func choose(all []Mutant, n int, seed uint64) []Mutant {
	type ranked struct {
		Mutant
		rank uint64
	}
	times := map[string]int{}
	order := make([]ranked, 0, len(all))
	for _, m := range all {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, seed, " ", m.key(), " ", times[m.key()]) // a hash never fails
		times[m.key()]++
		order = append(order, ranked{m, mix(h.Sum64())})
	}
	slices.SortFunc(order, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	out := make([]Mutant, 0, n)
	for _, r := range order[:min(n, len(order))] {
		out = append(out, r.Mutant)
	}
	slices.SortFunc(out, func(a, b Mutant) int { return cmp.Compare(a.id, b.id) })
	return out
}

// mix spreads the last bytes of an FNV hash over all bits (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
