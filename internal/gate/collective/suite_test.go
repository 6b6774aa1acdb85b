package collective

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
)

func suiteSite() *site.Site {
	s := testSite()
	s.Workloads.Collective.Suite, s.Workloads.Collective.ByRail = profile.CollectiveNames(), true
	return s
}

// Each collective and each rail is judged by itself.
func TestJudgeSuite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world   cluster
		verdict check.Verdict
		suspect string // of the first finding
		message string // of the first finding
		runs    int    // over all nodes and rails
	}{
		"healthy":                       {cluster{}, check.Passed, "", "", 13},
		"slow all-gather":               {cluster{only: "all_gather_perf", factor: 0.5}, check.Failed, "cluster (all-gather)", "all-gather: busbw at", 13},
		"slow reduce-scatter":           {cluster{only: "reduce_scatter_perf", factor: 0.5}, check.Failed, "cluster (reduce-scatter)", "expected at least 240.00: class floor: rule: 60 %", 13},
		"slow all-to-all":               {cluster{only: "alltoall_perf", factor: 0.5}, check.Failed, "cluster (all-to-all)", "the all-reduce of the same nodes passed", 13},
		"slow sendrecv":                 {cluster{only: "sendrecv_perf", factor: 0.5}, check.Failed, "cluster (sendrecv)", "the ports of one GPU", 13},
		"a node slow in the all-to-all": {cluster{only: "alltoall_perf", slow: map[string]float64{"gpu-03": 0.5}}, check.Failed, "gpu-03", "all-to-all: every pair with gpu-03 is bad", 13},
		"wrong data in the all-gather":  {cluster{only: "all_gather_perf", wrong: set("gpu-02")}, check.Failed, "gpu-02", "all-gather: ", 13},
		"all-gather not checked":        {cluster{only: "all_gather_perf", noCheck: true}, check.Unobserved, "pod firstlight-test/collective-all-gather-0-abcde", "all-gather: repetition 1 did not check its data: #wrong is N/A", 13},
		"all-to-all not checked":        {cluster{only: "alltoall_perf", noCheck: true}, check.Unobserved, "pod firstlight-test/collective-all-to-all-0-abcde", "all-to-all: repetition 1 did not check its data", 13},
		"a ratio of the all-reduce":     {cluster{only: "all_gather_perf", ratio: 1.9375}, check.Unobserved, "pod firstlight-test/collective-all-gather-0-abcde", "but (n-1)/n is 0.969 for 32 ranks: the figures fit no number of ranks", 13},
		"a ratio of 64 ranks":           {cluster{only: "alltoall_perf", ratio: 63.0 / 64}, check.Unobserved, "pod firstlight-test/collective-all-to-all-0-abcde", "the figures fit 6", 13},
		"another program ran":           {cluster{only: "alltoall_perf", program: "all_gather_perf"}, check.Unobserved, "pod firstlight-test/collective-all-to-all-0-abcde", "repetition 1 is of all_gather_perf, want alltoall_perf", 13},
		"a program without its name":    {cluster{only: "reduce_scatter_perf", unnamed: true}, check.Unobserved, "pod firstlight-test/collective-reduce-scatter-0-abcde", "does not say of which test it is", 13},
		"a slow rail":                   {cluster{slowRail: "mlx5_5"}, check.Failed, "mlx5_5", "rail mlx5_5: busbw at", 9},
		"all rails slow":                {cluster{only: "all_reduce_perf", factor: 0.5}, check.Failed, "cluster", "each of 8 rails alone is slow, too", 9},
		"a slow node":                   {cluster{slow: map[string]float64{"gpu-03": 0.7}}, check.Failed, "gpu-03", "every pair with gpu-03", 1},
		"a node that is named":          {cluster{tcp: set("gpu-03"), factor: 0.01}, check.Failed, "gpu-03", "fell back to TCP", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, suiteSite())
			j, obs := observeAndJudge(t, g, tt.world)
			ran := 0
			for _, o := range obs {
				if f, err := check.Decode[Figures](o); err == nil && (f.Scope == ScopeAll || f.Scope == ScopeRail) {
					ran++
				}
			}
			if j.Verdict != tt.verdict || ran != tt.runs {
				t.Fatalf("%s (%s), want %s; %d runs, want %d; %+v", j.Verdict, j.Reason, tt.verdict, ran, tt.runs, j.Findings)
			}
			if tt.verdict == check.Passed {
				for _, want := range []string{"busbw 3", "; all-gather 3", "; all-to-all 5", "; sendrecv 4", "; rail mlx5_7 4"} {
					if !strings.Contains(j.Reason, want) {
						t.Errorf("reason %q, want %q", j.Reason, want)
					}
				}
				return
			}
			if f := j.Findings[0]; f.Suspect != tt.suspect || !strings.Contains(f.Message, tt.message) || f.Remedy == "" || len(f.Observations) == 0 {
				t.Errorf("%+v, want %s, %q", f, tt.suspect, tt.message)
			}
		})
	}
}

// A collective or rail of the site that was not observed exactly once is not passed; others are not judged.
func TestSuiteIsExact(t *testing.T) {
	t.Parallel()
	g := testGate(t, suiteSite())
	_, whole := observeAndJudge(t, g, cluster{})
	for i := 0; i < len(whole); i += suite.Pick(3, 1, 1) { // a third for every change
		o, without := whole[i], slices.Delete(slices.Clone(whole), i, i+1)
		j := plan.Judge(g, without)
		of := strings.TrimPrefix(strings.TrimPrefix(o.Target, "all nodes"), ", ")
		if j.Verdict != check.Unobserved || of != "" && !strings.Contains(j.Reason, of) {
			t.Errorf("without %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
		of = cmp.Or(of, "the collective over all nodes")
		if j := plan.Judge(g, append(without, o, o)); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, of+" was observed 2 times") {
			t.Errorf("twice %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
		failed := o
		failed.Err = "not placed"
		for _, both := range [][]check.Observation{{failed, o}, {o, failed}} {
			if j := plan.Judge(g, append(slices.Clone(without), both...)); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, of+" was observed 2 times") {
				t.Errorf("failed and passed %s: %s: %s", o.Target, j.Verdict, j.Reason)
			}
		}
		if j := plan.Judge(g, append(without, failed)); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, of+" did not run") {
			t.Errorf("failed %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
	}
	if j := plan.Judge(testGate(t, testSite()), whole); j.Verdict != check.Passed || strings.Contains(j.Reason, "all-gather") {
		t.Errorf("without a suite: %s: %s", j.Verdict, j.Reason)
	}
	g.profile.Collective.SuiteFloor = nil
	if j := plan.Judge(g, whole); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "no ceiling for 4 nodes") {
		t.Errorf("without a limit: %s: %s", j.Verdict, j.Reason)
	}
}

// A slow all-reduce and a fast one are not a pass, in any order and without a suite; the pairs that localise the
// slow one are not counted.
func TestAllReduceIsExact(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	slow, bad := observeAndJudge(t, g, cluster{slow: map[string]float64{"gpu-03": 0.7}})
	if slow.Verdict != check.Failed || len(bad) < 3 {
		t.Fatalf("%s of %d observations", slow.Verdict, len(bad))
	}
	_, good := observeAndJudge(t, g, cluster{})
	for _, obs := range [][]check.Observation{slices.Concat(bad, good), slices.Concat(good, bad)} {
		j := plan.Judge(g, obs)
		if j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "the collective over all nodes was observed 2 times") || len(j.Findings) == 0 {
			t.Errorf("%s: %s; %+v", j.Verdict, j.Reason, j.Findings)
		}
	}
}

// The finding of a slow collective states the verdict of the all-reduce, or that it has none.
func TestSlowCollectiveWithoutAnAllReduce(t *testing.T) {
	t.Parallel()
	g := testGate(t, suiteSite())
	_, whole := observeAndJudge(t, g, cluster{only: "alltoall_perf", factor: 0.5})
	all := slices.IndexFunc(whole, func(o check.Observation) bool { return o.Target == "all nodes" })
	failed := slices.Clone(whole)
	failed[all].Err = "not placed"
	const passed, none = "; the all-reduce of the same nodes passed", "; the all-reduce of the same nodes has no result"
	for name, tt := range map[string]struct {
		obs        []check.Observation
		want, lack string
	}{
		"passed":   {whole, passed, none},
		"missing":  {slices.Delete(slices.Clone(whole), all, all+1), none, passed},
		"not run":  {failed, none, passed},
		"repeated": {append(slices.Clone(whole), whole[all]), none, passed},
	} {
		j := plan.Judge(g, tt.obs)
		if j.Verdict != check.Failed || len(j.Findings) == 0 || !strings.Contains(j.Findings[0].Message, tt.want) || strings.Contains(j.Findings[0].Message, tt.lack) {
			t.Errorf("%s: %s: %+v, want %q", name, j.Verdict, j.Findings, tt.want)
		}
	}
}

// Every field of a collective of the suite is demanded, or this list states why not.
func TestEveryFieldOfTheSuite(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Inventory.Nodes = s.Inventory.Nodes[:2]
	s.Workloads.Collective.Suite = []string{profile.AllToAll}
	g := testGate(t, s)
	_, obs := observeAndJudge(t, g, cluster{})
	all := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Target == "all nodes" })
	judge := func(other []check.Observation) check.Judgement {
		return plan.Judge(g, append([]check.Observation{obs[all]}, other...))
	}
	other := slices.DeleteFunc(slices.Clone(obs), func(o check.Observation) bool { return o.Target == "all nodes" })
	allowed := harmless(checktest.Harmless{
		"the program does not compare the in-place data":        {`.* .runs.rows.inPlace.wrong: left out`},
		"older versions of NCCL and nccl-tests do not print it": {`.* .nccl.ranks.ringGDR: left out`, `.* .runs.validation: .*`}, // the test must be named
	})
	checktest.EveryField(t, "spoilt-suite", judge, other, allowed, checktest.Sample(8))
}

// A size is the step, or a part of it that divides over the GPUs.
func TestPrintedSizes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		of         string
		size, step int64
		gpus       int
		want       bool
	}{
		{profile.AllReduce, 8 << 20, 8 << 20, 48, true},
		{profile.AllReduce, 8388096, 8 << 20, 48, false},
		{profile.AllGather, 8 << 20, 8 << 20, 32, true},
		{profile.AllGather, 8388096, 8 << 20, 48, true},  // 16 bytes each
		{profile.AllGather, 8388480, 8 << 20, 48, true},  // a float each, before 2.18
		{profile.AllGather, 8 << 20, 8 << 20, 48, false}, // does not divide
		{profile.AllToAll, 4 << 20, 8 << 20, 32, false},
		{profile.SendRecv, 8 << 20, 8 << 20, 48, true},
		{profile.SendRecv, 8388096, 8 << 20, 48, false},
	} {
		of, _ := testOf(tt.of)
		if got := of.printed(tt.size, tt.step, tt.gpus); got != tt.want {
			t.Errorf("%s: %d of %d on %d GPUs: %t", tt.of, tt.size, tt.step, tt.gpus, got)
		}
	}
	if _, ok := testOf("broadcast"); ok {
		t.Error("an unknown collective is known")
	}
}
