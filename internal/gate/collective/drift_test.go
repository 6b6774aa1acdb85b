package collective

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/workload"
)

func TestDriftComparesNodes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world    cluster
		verdict  check.Verdict
		suspects []string
		message  string
	}{
		"healthy":           {cluster{}, check.Passed, nil, ""},
		"a node 3 % slower": {cluster{slow: map[string]float64{"gpu-05": 0.97}}, check.Failed, []string{"gpu-05"}, "warn: "},
		"a node 6 % slower": {cluster{slow: map[string]float64{"gpu-05": 0.94}}, check.Failed, []string{"gpu-05"}, "replace: "},
		"below the limit":   {cluster{slow: map[string]float64{"gpu-05": 0.6}}, check.Failed, []string{"gpu-05", "cluster"}, "every pair with gpu-05 is bad"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Drift{Gate: testGate(t, manyNodes(8)), ReplaceAt: 0.05}
			j, obs := observeDrift(t, d, tt.world)
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
				if len(f.Observations) == 0 || f.Remedy == "" {
					t.Errorf("%+v", f)
				}
			}
			if diff := cmp.Diff(tt.suspects, suspects); diff != "" || j.Verdict != tt.verdict {
				t.Fatalf("%s: %s: %s", j.Verdict, j.Reason, diff)
			}
			if tt.message != "" && !strings.HasPrefix(j.Findings[0].Message, tt.message) {
				t.Errorf("%q", j.Findings[0].Message)
			}
			if diff := cmp.Diff(j, d.Judge(obs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A comparison runs all collectives of the site; pairs of the all-reduce alone are compared.
func TestDriftRunsTheSuite(t *testing.T) {
	t.Parallel()
	s := manyNodes(8)
	s.Workloads.Collective.Suite, s.Workloads.Collective.ByRail = []string{profile.AllToAll}, true
	d := Drift{Gate: testGate(t, s), ReplaceAt: 0.05}
	j, obs := observeDrift(t, d, cluster{})
	if j.Verdict != check.Passed || !strings.Contains(j.Reason, "; all-to-all ") || !strings.Contains(j.Reason, "; rail mlx5_7 ") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
	without := slices.DeleteFunc(obs, func(o check.Observation) bool { return o.Target == "all nodes, all-to-all" })
	if j := d.Judge(without); j.Verdict != check.Unobserved {
		t.Errorf("without the all-to-all: %s: %s", j.Verdict, j.Reason)
	}
	if j, _ := observeDrift(t, d, cluster{only: "alltoall_perf", factor: 0.5}); j.Verdict != check.Failed || j.Findings[0].Suspect != "cluster (all-to-all)" {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

// Without the pairs nothing is known of the nodes.
func TestDriftWithoutPairsIsUnobserved(t *testing.T) {
	t.Parallel()
	d := Drift{Gate: testGate(t, manyNodes(8)), ReplaceAt: 0.07}
	_, obs := observeDrift(t, d, cluster{})
	for _, kept := range []int{1, 3} {
		if j := d.Judge(obs[:kept]); j.Verdict != check.Unobserved || !strings.Contains(fmt.Sprint(j.Findings), "could not be compared") {
			t.Errorf("%d observations: %s: %s", kept, j.Verdict, j.Reason)
		}
	}
	if j := d.Judge(nil); j.Verdict != check.Unobserved {
		t.Errorf("%s", j.Verdict)
	}
}

func observeDrift(t *testing.T, d Drift, c cluster) (check.Judgement, []check.Observation) {
	t.Helper()
	d.run = c.fake
	d.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
	rec := &recorder{}
	if err := d.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return d.Judge(rec.obs), rec.obs
}
