package drift

import (
	"slices"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/gate/collective"
	probenccl "github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
)

// Each collective and each rail is compared with its own figure: a slow all-to-all is not hidden by the
// all-reduce, and without a run of it there is nothing to compare.
func TestCollectivesAreComparedByThemselves(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	add := func(seen *checktest.Observed, f collective.Figures, busBW float64) {
		f.Nodes, f.MaxBytes = []string{"gpu-01", "gpu-02"}, 1<<30
		side := &probenccl.Side{BusBW: busBW}
		for range 3 {
			f.Runs = append(f.Runs, probenccl.Run{Rows: []probenccl.Row{{Bytes: 1 << 30, OutOfPlace: side, InPlace: side}}})
		}
		seen.Add(collective.KindRun, f.Collective+f.Rail, true, f)
	}
	observed := func(allToAll, rail float64) []check.Observation {
		seen := &checktest.Observed{T: t}
		add(seen, collective.Figures{Scope: collective.ScopeAll}, 480)
		add(seen, collective.Figures{Scope: collective.ScopePair}, 100)
		if allToAll > 0 {
			add(seen, collective.Figures{Scope: collective.ScopeAll, Collective: profile.AllToAll}, allToAll)
		}
		add(seen, collective.Figures{Scope: collective.ScopeRail, Rail: "mlx5_3"}, rail)
		return seen.List
	}
	const allToAll, rail = "all-to-all busbw of 2 nodes up to 1073741824 bytes", "all_reduce busbw of 2 nodes over rail mlx5_3 up to 1073741824 bytes"
	recorded := measure(collective.Name, observed(80, 60), basis{profile: p, fromBytes: testBands(t).Sizes.FromBytes})
	var names []string
	for _, f := range recorded {
		names = append(names, f.Name)
	}
	want := []string{
		"all_reduce busbw of 2 nodes up to 1073741824 bytes", "all_reduce busbw of 2 nodes at 1073741824 bytes", allToAll, "all-to-all busbw of 2 nodes at 1073741824 bytes",
		rail, "all_reduce busbw of 2 nodes over rail mlx5_3 at 1073741824 bytes",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("figures %q, want %q", names, want)
	}
	c := compared{Check: passes{collective.Name}, profile: p, bands: testBands(t), baseline: Baseline{Run: "r", Figures: recorded}}
	checktest.Judged(t, c.Judge(observed(80, 60)), check.Passed, "", "")
	checktest.Judged(t, c.Judge(observed(60, 60)), check.Failed, "cluster", "replace: "+allToAll+" is 60 GB/s, 25.0 % worse")
	checktest.Judged(t, c.Judge(observed(80, 45)), check.Failed, "cluster", "replace: "+rail+" is 45 GB/s, 25.0 % worse")
	checktest.Judged(t, c.Judge(observed(0, 60)), check.Unobserved, allToAll, "was not observed again")
}
