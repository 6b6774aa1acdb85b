package collective

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/site"
)

func set(names ...string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[n] = true
	}
	return m
}

func every() []string { return []string{"gpu-01", "gpu-02", "gpu-03", "gpu-04"} }

func TestJudge(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		world   cluster
		verdict check.Verdict
		suspect string // of the first finding
		message string // in any finding
		jobs    int    // observations at least
	}{
		"healthy":                          {cluster{}, check.Passed, "", "", 1},
		"straggler node":                   {cluster{slow: map[string]float64{"gpu-03": 0.7}}, check.Failed, "gpu-03", "every pair with gpu-03 is bad", 3},
		"first node slow":                  {cluster{slow: map[string]float64{"gpu-01": 0.6}}, check.Failed, "gpu-01", "busbw at", 3},
		"two slow nodes":                   {cluster{slow: map[string]float64{"gpu-01": 0.6, "gpu-04": 0.6}}, check.Failed, "gpu-01", "every pair with gpu-04", 3},
		"slow pair":                        {cluster{slowPair: []string{"gpu-02", "gpu-03"}}, check.Failed, "gpu-02<->gpu-03", "bad with each other", 3},
		"everything slow":                  {cluster{factor: 0.5}, check.Failed, "cluster", "suspect a common cause", 7},
		"one node in a slow cluster":       {cluster{factor: 0.9, slow: map[string]float64{"gpu-02": 0.6}}, check.Failed, "gpu-02", "every pair with gpu-02", 7},
		"tcp on one node":                  {cluster{tcp: set("gpu-03"), factor: 0.01}, check.Failed, "gpu-03", "fell back to TCP", 1},
		"tcp everywhere":                   {cluster{tcp: set(every()...), factor: 0.01}, check.Failed, "gpu-01", "fell back to TCP", 1},
		"tcp that is fast enough":          {cluster{tcp: set("gpu-02")}, check.Failed, "gpu-02", "sockets", 1},
		"no GPUDirect on a node":           {cluster{noGDR: map[string][]int{"gpu-03": {0, 1, 2, 3, 4, 5, 6, 7}}, factor: 0.5}, check.Failed, "gpu-03", "without GPUDirect", 1},
		"no GPUDirect on an HCA":           {cluster{noGDR: map[string][]int{"gpu-03": {5}}}, check.Failed, "gpu-03/mlx5_5", "without GPUDirect", 1},
		"rings without GPUDirect":          {cluster{gdr0: set("gpu-04")}, check.Failed, "gpu-04", "GDR 0", 1},
		"NVLS lost on a node":              {cluster{noNVLS: set("gpu-02")}, check.Failed, "gpu-02", "NVLS multicast is not available on 8 of 8", 1},
		"storage NIC used":                 {cluster{extraHCA: map[string]string{"gpu-01": "mlx5_bond_0"}}, check.Failed, "gpu-01/mlx5_bond_0", "not a device of the compute fabric", 1},
		"HCA missing":                      {cluster{lostHCA: map[string]string{"gpu-04": "mlx5_6"}}, check.Failed, "gpu-04/mlx5_6", "does not use mlx5_6", 1},
		"data corruption":                  {cluster{wrong: set("gpu-04")}, check.Failed, "gpu-04", "#wrong", 3},
		"data corruption everywhere":       {cluster{wrong: set(every()...)}, check.Failed, "cluster", "#wrong", 3},
		"truncated":                        {cluster{truncate: true}, check.Failed, "truncated output of pod firstlight-test/collective-0-abcde", "truncated: no footer", 1},
		"one repetition missing":           {cluster{reps: 2}, check.Failed, "incomplete output of pod firstlight-test/collective-0-abcde", "2 of 3 repetitions", 1},
		"largest size missing":             {cluster{lastSizes: 1}, check.Failed, "incomplete output of pod firstlight-test/collective-0-abcde", "incomplete: sizes", 1},
		"data not checked":                 {cluster{noCheck: true}, check.Unobserved, "pod firstlight-test/collective-0-abcde", "N/A", 1},
		"NCCL silent":                      {cluster{silent: true}, check.Unobserved, "pod firstlight-test/collective-0-abcde", "no output of NCCL", 1},
		"figures of another run":           {cluster{ratio: 1.969}, check.Failed, "pod firstlight-test/collective-0-abcde", "the figures fit 65 ranks", 1},
		"impossible ratio":                 {cluster{ratio: 3.2}, check.Failed, "pod firstlight-test/collective-0-abcde", "no number of ranks", 1},
		"times of another run":             {cluster{times: 2}, check.Failed, "pod firstlight-test/collective-0-abcde", "time and bandwidth are inconsistent", 1},
		"built for MPI, with its name":     {cluster{program: "all_reduce_perf_mpi"}, check.Passed, "", "", 1},
		"another collective":               {cluster{program: "all_gather_perf"}, check.Failed, "pod firstlight-test/collective-0-abcde", "all_gather_perf", 1},
		"validation off":                   {cluster{unchecked: true}, check.Unobserved, "pod firstlight-test/collective-0-abcde", "validation: 0", 1},
		"rows cut short":                   {cluster{oneHalf: true}, check.Unobserved, "pod firstlight-test/collective-0-abcde", "unreadable lines", 1},
		"a line of NCCL joined with a row": {cluster{joined: true}, check.Unobserved, "pod firstlight-test/collective-0-abcde", "row is joined with a line of NCCL", 1},
		"a plugin over InfiniBand":         {cluster{plugin: "ext_v8"}, check.Passed, "", "", 1},
		"a plugin with its own name":       {cluster{transport: "NCCL RDMA Plugin v8"}, check.Passed, "", "", 1},
		"the same plugin over UCX":         {cluster{transport: "NCCL RDMA Plugin v8", p2p: "UCX"}, check.Failed, "gpu-01", "run over NET/NCCL RDMA Plugin v8 (UCX)", 1},
		"a plugin over something else":     {cluster{plugin: "x"}, check.Failed, "gpu-01", "run over NET/IBx", 1},
		"a GPU missing":                    {cluster{fewGPUs: map[string]int{"gpu-02": 1}}, check.Failed, "gpu-02", "7 of 8 GPUs", 1},
		"ranks elsewhere":                  {cluster{badHosts: true}, check.Failed, "stranger-0", "not placed on", 1},
		"hang with a node that is late":    {cluster{hang: set("gpu-02")}, check.Failed, "gpu-02", "hangs", 1},
		"hang of all":                      {cluster{hang: set(every()...)}, check.Failed, "cluster", "hangs", 7},
		"mpirun failed":                    {cluster{exit: 137}, check.Failed, "pod firstlight-test/collective-0-abcde", "exit code 137", 7},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGate(t, testSite())
			j, obs := observeAndJudge(t, g, tt.world)
			if j.Verdict != tt.verdict {
				t.Fatalf("verdict %s (%s), want %s; findings %+v", j.Verdict, j.Reason, tt.verdict, j.Findings)
			}
			if len(obs) < tt.jobs || (tt.jobs == 1 && len(obs) != 1) {
				t.Errorf("%d jobs were run, want %d", len(obs), tt.jobs)
			}
			if tt.verdict == check.Passed {
				if len(j.Findings) > 0 || len(j.Figures) == 0 {
					t.Errorf("findings %+v, figures %+v", j.Findings, j.Figures)
				}
				return
			}
			if len(j.Findings) == 0 {
				t.Fatal("no findings")
			}
			if j.Findings[0].Suspect != tt.suspect {
				t.Errorf("suspect %q, want %q: %s", j.Findings[0].Suspect, tt.suspect, j.Findings[0].Message)
			}
			if !slices.ContainsFunc(j.Findings, func(f check.Finding) bool { return strings.Contains(f.Message, tt.message) }) {
				t.Errorf("no finding says %q: %+v", tt.message, j.Findings)
			}
			for _, f := range j.Findings {
				if f.Remedy == "" || f.Message == "" || len(f.Observations) == 0 {
					t.Errorf("finding without remedy, message or evidence: %+v", f)
				}
			}
			if diff := cmp.Diff(j, g.Judge(obs)); diff != "" {
				t.Errorf("not the same twice: %s", diff)
			}
		})
	}
}

func TestJudgeNothing(t *testing.T) {
	t.Parallel()
	g := testGate(t, testSite())
	notRun := check.Observation{ID: "1", Kind: KindRun, Target: "all nodes", Err: "collective did not be placed: Insufficient nvidia.com/gpu", Figures: []byte(`{"scope":"all"}`)}
	empty := check.Observation{ID: "1", Kind: KindRun, Target: "all nodes", Figures: []byte(`{"scope":"all"}`)}
	odd := check.Observation{ID: "1", Kind: KindRun, Target: "all nodes", Figures: []byte(`{"scope":"all","nodes":["x"]`)}
	for name, obs := range map[string][]check.Observation{
		"none": nil, "not run": {notRun}, "empty": {empty}, "no JSON": {odd},
		"an error": {{Kind: "error", Err: "no cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := g.Judge(obs); j.Verdict != check.Unobserved {
				t.Errorf("verdict %s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

func TestJudgeHalfTheInventory(t *testing.T) {
	t.Parallel()
	small := testSite()
	small.Inventory.Nodes = small.Inventory.Nodes[:2]
	_, obs := observeAndJudge(t, testGate(t, small), cluster{})
	if j := testGate(t, testSite()).Judge(obs); j.Verdict == check.Passed {
		t.Errorf("verdict %s over half the nodes", j.Verdict)
	}
}

func TestJudgeFewNodes(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		s := testSite()
		s.Inventory.Nodes = s.Inventory.Nodes[:n]
		if j, _ := observeAndJudge(t, testGate(t, s), cluster{}); j.Verdict != check.Passed {
			t.Errorf("%d nodes: %s: %s", n, j.Verdict, j.Reason)
		}
		if j, _ := observeAndJudge(t, testGate(t, s), cluster{slow: map[string]float64{"gpu-01": 0.6}}); j.Verdict != check.Failed || j.Findings[0].Suspect != map[int]string{1: "cluster", 2: "gpu-01", 3: "gpu-01"}[n] {
			t.Errorf("%d nodes, one slow: %s: %+v", n, j.Verdict, j.Findings)
		}
	}
}

func TestJudgeNodeNamesAsHosts(t *testing.T) {
	t.Parallel()
	s := testSite()
	s.Inventory.Nodes = []site.Node{{Name: "stranger-0"}, {Name: "stranger-1.example.com"}, {Name: "stranger-2"}, {Name: "stranger-3"}}
	if j, _ := observeAndJudge(t, testGate(t, s), cluster{badHosts: true}); j.Verdict != check.Passed {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
