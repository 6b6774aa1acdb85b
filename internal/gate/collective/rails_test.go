package collective

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
)

// Only results of all rails show that no rail is the cause; slow rails are named even if others have no result.
func TestRailsWithoutAResult(t *testing.T) {
	t.Parallel()
	rails := []string{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7"}
	but := func(of ...string) []string {
		return slices.DeleteFunc(slices.Clone(rails), func(r string) bool { return slices.Contains(of, r) })
	}
	slowRail := cluster{slowRail: "mlx5_5"}
	allSlow := cluster{only: "all_reduce_perf", factor: 0.5}
	const noRail, together = "no rail explains it", "they are slow only together"
	for name, tt := range map[string]struct {
		world   cluster
		missing []string
		suspect string // of the first finding
		want    string // in its message
	}{
		"all":                         {slowRail, nil, "mlx5_5", "rail mlx5_5: busbw at"},
		"the slow rail and no other":  {slowRail, but("mlx5_5"), "mlx5_5", "; 7 of 8 rails have no result"},
		"one good rail is missing":    {slowRail, []string{"mlx5_0"}, "mlx5_5", "; 1 of 8 rails has no result"},
		"the slow rail is missing":    {slowRail, []string{"mlx5_5"}, "cluster", "; 7 of 8 rails alone are fast; 1 of 8 rails has no result"},
		"one good rail and no other":  {slowRail, but("mlx5_0"), "cluster", "; 1 of 8 rails alone is fast; 7 of 8 rails have no result"},
		"all slow":                    {allSlow, nil, "cluster", noRail},
		"all slow, and one not seen":  {allSlow, []string{"mlx5_0"}, "mlx5_1", "; 1 of 8 rails has no result"},
		"all slow, and two were seen": {allSlow, but("mlx5_3", "mlx5_4"), "mlx5_3", "; 6 of 8 rails have no result"},
		"none":                        {allSlow, rails, "cluster", "busbw at"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, suiteSite())
			_, whole := observeAndJudge(t, g, tt.world)
			isMissing := func(o check.Observation) bool {
				f, err := check.Decode[Figures](o)
				return err == nil && f.Scope == ScopeRail && slices.Contains(tt.missing, f.Rail)
			}
			removed := slices.DeleteFunc(slices.Clone(whole), isMissing)
			failed := slices.Clone(whole)
			for i := range failed {
				if isMissing(failed[i]) {
					failed[i].Err = "not placed"
				}
			}
			if len(whole)-len(removed) != len(tt.missing) {
				t.Fatalf("%d of %d observations without %v", len(removed), len(whole), tt.missing)
			}
			for _, obs := range [][]check.Observation{removed, failed} {
				j := plan.Judge(g, obs)
				if j.Verdict != check.Failed || len(j.Findings) == 0 || j.Findings[0].Suspect != tt.suspect || !strings.Contains(j.Findings[0].Message, tt.want) {
					t.Errorf("%s: %s; %+v, want %s: %q", j.Verdict, j.Reason, j.Findings, tt.suspect, tt.want)
				}
				for _, f := range j.Findings {
					if len(tt.missing) > 0 && (strings.Contains(f.Message, noRail) || strings.Contains(f.Message, together)) {
						t.Errorf("concluded without %v: %s", tt.missing, f.Message)
					}
				}
			}
		})
	}
}

// All rails may be fast alone.
func TestRailsAreSlowOnlyTogether(t *testing.T) {
	t.Parallel()
	g := testGate(t, suiteSite())
	_, good := observeAndJudge(t, g, cluster{})
	_, slow := observeAndJudge(t, g, cluster{only: "all_reduce_perf", factor: 0.5})
	isRail := func(o check.Observation) bool {
		f, err := check.Decode[Figures](o)
		return err == nil && f.Scope == ScopeRail
	}
	obs := slices.DeleteFunc(slices.Clone(slow), isRail)
	obs = append(obs, slices.DeleteFunc(slices.Clone(good), func(o check.Observation) bool { return !isRail(o) })...)
	if j := plan.Judge(g, obs); j.Verdict != check.Failed || !strings.Contains(j.Findings[0].Message, "; each of 8 rails alone is fast: they are slow only together") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}
