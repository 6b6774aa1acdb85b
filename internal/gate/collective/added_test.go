package collective

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/pregate/playbook"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/workload"
)

// addedTo runs the pairs of the nodes that are not accepted, of gpu-01 to gpu-08, and judges them as a
// plan that may leave all of them out.
func addedTo(t *testing.T, accepted []string, c cluster, notRun ...string) (check.Judgement, *recorder) {
	t.Helper()
	g := testGate(t, manyNodes(8))
	p := NewPairs(g.site, g.profile, g.deps, accepted)
	p.gate.run = func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		for _, n := range notRun {
			if slices.Contains(spec.Nodes, n) {
				return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: n + " has 4 of 8 GPUs free", Lacking: []string{n}}, nil, nil
			}
		}
		return c.fake(ctx, l, spec)
	}
	p.gate.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
	rec := &recorder{}
	if err := p.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return plan.JudgePart(p, playbook.Expected{}, rec.obs, nil, 8), rec
}

// A new node is not blamed for a pair that others kept from running.
func TestAPairThatDidNotRun(t *testing.T) {
	t.Parallel()
	lacking := func(nodes ...string) gangjob.Outcome {
		return gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "GPUs are held", Lacking: nodes}
	}
	refused := gangjob.Outcome{Ended: gangjob.EndedNotRun, Problem: "pod p on gpu-08: ErrImagePull", Refused: true}
	for name, tt := range map[string]struct {
		first, second gangjob.Outcome
		verdict       check.Verdict
	}{
		"partners are taken between rounds": {lacking("gpu-01"), lacking("gpu-02"), check.Unobserved},
		"the new node, and then a partner":  {lacking("gpu-08"), lacking("gpu-02"), check.Unobserved},
		"the new node lacks GPUs":           {lacking("gpu-08"), lacking("gpu-01", "gpu-08"), check.Partial},
		"its pods fail":                     {refused, refused, check.Partial},
		"its pods fail, a partner is taken": {refused, lacking("gpu-02"), check.Unobserved},
		"nothing is known":                  {lacking(), lacking(), check.Unobserved},
	} {
		tries := 0
		run := func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
			if !slices.Contains(spec.Nodes, "gpu-08") {
				return cluster{}.fake(ctx, l, spec)
			}
			tries++
			return []gangjob.Outcome{tt.first, tt.second}[min(tries, 2)-1], nil, nil
		}
		g := testGate(t, manyNodes(8))
		p := NewPairs(g.site, g.profile, g.deps, first(2))
		p.gate.run, p.gate.launcher = run, func(context.Context) (*workload.Launcher, error) { return nil, nil }
		rec := &recorder{}
		if err := p.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if j := plan.JudgePart(p, playbook.Expected{}, rec.obs, nil, 8); j.Verdict != tt.verdict || tries != 2 {
			t.Errorf("%s: %s %+v, %d tries", name, j.Verdict, j.Findings, tries)
		}
	}
}

func first(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("gpu-%02d", i+1))
	}
	return out
}

func TestPairsOfNewNodes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		accepted int
		world    cluster
		notRun   []string
		verdict  check.Verdict
		leftOut  []string
		says     string
		jobs     int
	}{
		"healthy":                       {4, cluster{}, nil, check.Passed, nil, "4 new nodes", 4},
		"more new nodes than accepted":  {1, cluster{}, nil, check.Passed, nil, "7 new nodes", 7},
		"a slow node":                   {4, cluster{slow: map[string]float64{"gpu-06": 0.6}}, nil, check.Partial, []string{"gpu-06"}, "3 new nodes", 5},
		"a slow node, one accepted":     {1, cluster{slow: map[string]float64{"gpu-06": 0.6}}, nil, check.Partial, []string{"gpu-06"}, "6 new nodes", 7},
		"a node on sockets":             {4, cluster{tcp: set("gpu-07")}, nil, check.Partial, []string{"gpu-07"}, "fell back to TCP", 4},
		"wrong data":                    {4, cluster{wrong: set("gpu-05")}, nil, check.Partial, []string{"gpu-05"}, "corrupt", 5},
		"a slow accepted node":          {4, cluster{slow: map[string]float64{"gpu-01": 0.6}}, nil, check.Passed, nil, "4 new nodes", 5},
		"a bad link between two":        {4, cluster{slowPair: []string{"gpu-01", "gpu-05"}}, nil, check.Passed, nil, "4 new nodes", 5},
		"all new nodes are slow":        {4, cluster{slow: map[string]float64{"gpu-05": 0.6, "gpu-06": 0.6, "gpu-07": 0.6, "gpu-08": 0.6}}, nil, check.Failed, nil, "gpu-05", 8},
		"a busy accepted node":          {4, cluster{}, []string{"gpu-01"}, check.Passed, nil, "4 new nodes", 5},
		"all accepted nodes are busy":   {2, cluster{}, []string{"gpu-01", "gpu-02"}, check.Unobserved, nil, "GPUs free", 12},
		"a slow node, and a busy one":   {2, cluster{slow: map[string]float64{"gpu-03": 0.6}}, []string{"gpu-02"}, check.Unobserved, nil, "no pair shows", 0},
		"a new node without GPUs":       {2, cluster{}, []string{"gpu-05"}, check.Partial, []string{"gpu-05"}, "did not run", 7},
		"no data checks":                {4, cluster{unchecked: true}, nil, check.Unobserved, nil, "did not check its data", 8},
		"accepted nodes are on sockets": {2, cluster{tcp: set("gpu-01", "gpu-02")}, nil, check.Unobserved, nil, "no pair shows", 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, rec := addedTo(t, first(tt.accepted), tt.world, tt.notRun...)
			if j.Verdict != tt.verdict || !strings.Contains(j.Reason+fmt.Sprint(j.Findings), tt.says) {
				t.Errorf("%s: %s %+v", j.Verdict, j.Reason, j.Findings)
			}
			if diff := cmp.Diff(tt.leftOut, j.LeftOut); diff != "" {
				t.Error(diff)
			}
			if tt.jobs > 0 && len(rec.obs) != tt.jobs {
				t.Errorf("%d jobs, want %d", len(rec.obs), tt.jobs)
			}
			for _, f := range j.Findings {
				if f.Remedy == "" || len(f.Observations) == 0 {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// An accepted node whose pair did not pass is noted where another one clears the new node.
func TestAnAcceptedNodeIsNoted(t *testing.T) {
	t.Parallel()
	j, _ := addedTo(t, first(4), cluster{slow: map[string]float64{"gpu-01": 0.6}})
	if len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-01" || !strings.Contains(j.Findings[0].Remedy, "firstlight drift") {
		t.Errorf("%+v", j.Findings)
	}
}

// Pairs are of a new and an accepted node, disjoint in a round, and never repeated.
func TestPartners(t *testing.T) {
	t.Parallel()
	for accepted := 1; accepted <= 5; accepted++ {
		for added := 1; added <= 7; added++ {
			nodes := []string{}
			for i := range added {
				nodes = append(nodes, fmt.Sprintf("new-%d", i))
			}
			var tried []pair
			seen := map[string]bool{}
			for rounds := 1; ; rounds++ {
				groups := nextPartners(nodes, func(string) []string { return first(accepted) }, tried)
				if len(groups) == 0 {
					break
				}
				busy := map[string]bool{}
				for _, g := range groups {
					if seen[g[0]+g[1]] || busy[g[0]] || busy[g[1]] || !strings.HasPrefix(g[0], "gpu-") || !strings.HasPrefix(g[1], "new-") {
						t.Fatalf("%d accepted, %d new: %v", accepted, added, groups)
					}
					seen[g[0]+g[1]], busy[g[0]], busy[g[1]] = true, true, true
					tried = append(tried, pair{partner: g[0], node: g[1]})
				}
				if rounds > 4*added {
					t.Fatal("no end")
				}
			}
			if len(seen) != added*min(triesOfANode, accepted) {
				t.Errorf("%d accepted, %d new: %d pairs", accepted, added, len(seen))
			}
		}
	}
}

// Where NVLink connects the nodes of a rack, pairs are of one rack.
func TestPartnersOfARack(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("gb200-nvl72-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	s := manyNodes(8)
	for i, rack := range []string{"a", "a", "b", "", "a", "b", "c", ""} {
		s.Inventory.Nodes[i].Rack = rack
	}
	pairs := NewPairs(s, p, Deps{}, first(4))
	var tried []pair
	for {
		groups := nextPartners(pairs.Nodes(), pairs.partners, tried)
		if len(groups) == 0 {
			break
		}
		for _, g := range groups {
			tried = append(tried, pair{partner: g[0], node: g[1]})
		}
	}
	var got []string
	for _, r := range tried {
		got = append(got, r.partner+"+"+r.node)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"gpu-01+gpu-05", "gpu-02+gpu-05", "gpu-03+gpu-06"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"gpu-07", "gpu-08"}, pairs.Unpaired()); diff != "" {
		t.Error(diff)
	}
	if in := NewPairs(s, testGate(t, s).profile, Deps{}, first(4)); len(in.Unpaired()) > 0 {
		t.Errorf("NVLink inside of nodes: %v", in.Unpaired())
	}
}

// Without a pair, or with pairs of other nodes, nothing is known of a new node.
func TestPairsNotObserved(t *testing.T) {
	t.Parallel()
	_, rec := addedTo(t, first(4), cluster{})
	g := testGate(t, manyNodes(8))
	fewer := []check.Observation{}
	for _, o := range rec.obs {
		f, err := check.Decode[Figures](o)
		if err != nil {
			t.Fatal(err)
		}
		f.Repetitions = 1
		if o, err = o.WithFigures(f); err != nil {
			t.Fatal(err)
		}
		fewer = append(fewer, o)
	}
	for name, tt := range map[string]struct {
		accepted []string
		obs      []check.Observation
	}{
		"nothing": {first(4), nil}, "a pair is missing": {first(4), rec.obs[1:]}, "two new nodes": {first(3), rec.obs},
		"other accepted nodes": {[]string{"gpu-08"}, rec.obs}, "no new node": {first(8), rec.obs}, "no accepted node": {nil, rec.obs}, "one repetition": {first(4), fewer},
	} {
		if j := plan.JudgePart(NewPairs(g.site, g.profile, g.deps, tt.accepted), playbook.Expected{}, tt.obs, nil, 8); j.Verdict != check.Unobserved {
			t.Errorf("%s: %s: %s", name, j.Verdict, j.Reason)
		}
	}
}
