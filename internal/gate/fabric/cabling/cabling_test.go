package cabling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clos is a rail-optimised fabric: HCA k of a node at leaf k of its group, and one uplink or more
// from each leaf to each spine.
func clos(nodes, rails, perLeaf, spines, uplinks int) []Link {
	var out []Link
	groups := (nodes + perLeaf - 1) / perLeaf
	for n := range nodes {
		for k := range rails {
			out = append(out, NewLink(End{fmt.Sprintf("gpu-%d mlx5_%d", n, k), 1}, End{leaf(n/perLeaf*rails + k), n%perLeaf + 1}))
		}
	}
	for l := range groups * rails {
		for s := range spines {
			for u := range uplinks {
				out = append(out, NewLink(End{leaf(l), perLeaf + 1 + s*uplinks + u}, End{fmt.Sprintf("spine-%d", s), l*uplinks + u + 1}))
			}
		}
	}
	return out
}

func leaf(n int) string { return fmt.Sprintf("leaf-%d", n) }

func random(rng *rand.Rand) []Link {
	return clos(16+rng.IntN(985), 1+rng.IntN(8), 8+rng.IntN(25), 1+rng.IntN(4), 1+rng.IntN(3))
}

// No difference is invented on 100 clean fabrics of 16 to 1,000 nodes, whatever the order of the
// links and of their ends.
func TestCleanFabrics(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 1))
		design := random(rng)
		wired := slices.Clone(design)
		rng.Shuffle(len(wired), func(i, j int) { wired[i], wired[j] = wired[j], wired[i] })
		for i := range wired {
			if rng.IntN(2) == 0 {
				wired[i].A, wired[i].B = wired[i].B, wired[i].A
			}
		}
		if d := Compare(design, wired); len(d) > 0 {
			t.Errorf("seed %d: %d links: %v", seed, len(design), d)
		}
	}
}

// Each of 100 seeded sets of errors is named exactly: kind and ports.
func TestSeededErrors(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		design := random(rng)
		wired := slices.Clone(design)
		// Distinct links, so that no error changes what another one did.
		pick := rng.Perm(len(design))
		var want []Difference
		var gone []int
		for range 1 + rng.IntN(4) {
			switch i := pick[0]; rng.IntN(5) {
			case 0:
				gone = append(gone, i)
				want = append(want, Difference{Kind: Missing, Designed: []Link{design[i]}})
				pick = pick[1:]
			case 1: // into a port that the design leaves free
				wired[i] = NewLink(design[i].A, End{design[i].B.Node, 200 + i})
				want = append(want, Difference{Kind: Moved, Designed: []Link{design[i]}, Wired: []Link{wired[i]}})
				pick = pick[1:]
			case 2:
				l := NewLink(End{"leaf-0", 300 + len(wired)}, End{"leaf-1", 300 + len(wired)})
				wired = append(wired, l)
				want = append(want, Difference{Kind: Extra, Wired: []Link{l}})
			case 3:
				j := pick[1]
				wired[i], wired[j] = NewLink(design[i].A, design[j].B), NewLink(design[j].A, design[i].B)
				want = append(want, difference(Swapped, []Link{design[i], design[j]}, []Link{wired[i], wired[j]}))
				pick = pick[2:]
			case 4: // three cables, each in the port of the next
				j, k := pick[1], pick[2]
				wired[i], wired[j], wired[k] = NewLink(design[i].A, design[j].B), NewLink(design[j].A, design[k].B), NewLink(design[k].A, design[i].B)
				want = append(want, difference(Rewired, []Link{design[i], design[j], design[k]}, []Link{wired[i], wired[j], wired[k]}))
				pick = pick[3:]
			}
		}
		slices.Sort(gone)
		for _, i := range slices.Backward(gone) {
			wired = slices.Delete(wired, i, i+1)
		}
		got := Compare(design, wired)
		text := func(d Difference) string { return d.Kind + " " + d.String() }
		less := func(a, b Difference) int { return strings.Compare(text(a), text(b)) }
		slices.SortFunc(want, less)
		slices.SortFunc(got, less)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// Differences of two cables and more: each is named with all its cables, and only two cables that
// exchanged an end are swapped.
func TestKindOfTwoCablesAndMore(t *testing.T) {
	t.Parallel()
	a, b, c, d, e := End{"gpu-1/mlx5_0", 0}, End{"leaf-0", 1}, End{"gpu-1/mlx5_1", 0}, End{"leaf-1", 1}, End{"leaf-1", 2}
	for name, tt := range map[string]struct {
		designed, wired []Link
		want            string
	}{
		"two cables exchanged an end":                {[]Link{NewLink(a, b), NewLink(c, d)}, []Link{NewLink(a, d), NewLink(c, b)}, Swapped},
		"one cable in the ports of two":              {[]Link{NewLink(a, b), NewLink(c, d)}, []Link{NewLink(a, d)}, Rewired},
		"two cables in the ports of one":             {[]Link{NewLink(a, d)}, []Link{NewLink(a, b), NewLink(c, d)}, Rewired},
		"two cables, one of which is in a free port": {[]Link{NewLink(a, b), NewLink(c, d)}, []Link{NewLink(a, d), NewLink(c, e)}, Rewired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Compare(tt.designed, tt.wired)
			if len(got) != 1 || got[0].Kind != tt.want || len(got[0].Designed) != len(tt.designed) || len(got[0].Wired) != len(tt.wired) {
				t.Errorf("%+v, want one %s with all cables", got, tt.want)
			}
		})
	}
}

func difference(kind string, designed, wired []Link) Difference {
	slices.SortFunc(designed, compareLinks)
	slices.SortFunc(wired, compareLinks)
	return Difference{kind, designed, wired}
}

func TestText(t *testing.T) {
	t.Parallel()
	a, b, c, d := End{"gpu-1/mlx5_0", 0}, End{"gpu-1/mlx5_1", 0}, End{"leaf-0", 1}, End{"leaf-1", 1}
	design := []Link{NewLink(a, c), NewLink(b, d), NewLink(End{"leaf-0", 33}, End{"spine-0", 1}), NewLink(End{"leaf-1", 33}, End{"spine-0", 2})}
	wired := []Link{NewLink(a, d), NewLink(b, c), NewLink(End{"leaf-1", 34}, End{"spine-0", 2}), NewLink(End{"leaf-0", 9}, End{"leaf-1", 9})}
	var got []string
	for _, d := range Compare(design, wired) {
		got = append(got, d.Kind+": "+d.String())
	}
	want := []string{
		"swapped: links gpu-1/mlx5_0 to leaf-0/port1, gpu-1/mlx5_1 to leaf-1/port1 are wired as gpu-1/mlx5_0 to leaf-1/port1, gpu-1/mlx5_1 to leaf-0/port1",
		"extra: link leaf-0/port9 to leaf-1/port9 is not in the design",
		"missing: no link leaf-0/port33 to spine-0/port1",
		"moved: link leaf-1/port33 to spine-0/port2 is wired as leaf-1/port34 to spine-0/port2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
