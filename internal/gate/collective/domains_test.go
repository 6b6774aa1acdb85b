package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/checktest"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/nccl"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

func secondRack() map[string]bool { return set("gpu-05", "gpu-06", "gpu-07", "gpu-08") }

func slower(nodes map[string]bool, each float64) map[string]float64 {
	out := map[string]float64{}
	for n := range nodes {
		out[n] = each
	}
	return out
}

// Each NVLink domain is judged by itself, against the figure of NVLink for its nodes.
func TestJudgeDomains(t *testing.T) {
	t.Parallel()
	const disabled = "NCCL_MNNVL_ENABLE set by environment to 0"
	for name, tt := range map[string]struct {
		world   racks
		verdict check.Verdict
		suspect string // of the first finding
		message string // of the first finding
		domains int    // runs by domain
	}{
		"healthy":                              {racks{}, check.Passed, "", "", 2},
		"NVLink multicast alone, no channels":  {racks{noChannels: true}, check.Passed, "", "", 2},
		"a domain falls back to the network":   {racks{off: secondRack(), setting: disabled}, check.Failed, rackB, "rack r2): NCCL does not use NVLink between the nodes and fell back to the network; 96 channel ends between nodes run over NET/IB; NCCL's settings are NCCL_MNNVL_ENABLE=0", 2},
		"a domain falls back now and then":     {racks{off: secondRack(), domainsOnly: true}, check.Failed, rackB, "gpu-05, gpu-06, gpu-07, gpu-08; rack r2", 2},
		"both fall back":                       {racks{off: set("gpu-01", "gpu-02", "gpu-03", "gpu-04", "gpu-05", "gpu-06", "gpu-07", "gpu-08")}, check.Failed, rackA, "fell back", 2},
		"a node falls back":                    {racks{off: set("gpu-06"), setting: disabled}, check.Failed, "gpu-06", "NCCL does not use NVLink between gpu-06 and the other nodes of its NVLink domain", 2},
		"a fallback that NCCL does not report": {racks{off: secondRack(), old: true, noChannels: true}, check.Failed, rackB, "the network between these nodes can give 250 GB/s: suspect that NCCL fell back to it", 2},
		"a slow domain":                        {racks{cluster: cluster{slow: slower(secondRack(), 0.95)}}, check.Failed, rackB, "expected at least 811.44: 92 % of the 882 GB/s of 4 nodes; above the 250 GB/s that the network can give: NVLink is in use, at a part of its rate; all 6 pairs of nodes are good: suspect shared components (NVLink switches and their partition)", 2},
		"a very slow domain":                   {racks{cluster: cluster{slow: slower(secondRack(), 0.85)}}, check.Failed, rackB, "all 6 pairs of nodes are bad: suspect a common cause (image, NCCL version or settings, IMEX, NVLink switches)", 2},
		"a bad path in a domain":               {racks{cluster: cluster{slowPair: []string{"gpu-06", "gpu-08"}}, domainsOnly: true}, check.Failed, "gpu-06<->gpu-08", "good with other nodes and bad with each other", 2},
		"a slow node":                          {racks{cluster: cluster{slow: map[string]float64{"gpu-07": 0.6}}}, check.Failed, "gpu-07", "every pair with gpu-07 is bad", 2},
		"a slow network between the domains":   {racks{cluster: cluster{factor: 0.5}, across: true}, check.Failed, "cluster", "; each NVLink domain alone is fast: suspect the network between them", 2},
		"wrong data in a domain":               {racks{cluster: cluster{wrong: set("gpu-02")}, domainsOnly: true}, check.Failed, "gpu-02", "rack r1): every pair with gpu-02", 2},
		"no IMEX in a domain":                  {racks{noIMEX: secondRack()}, check.Failed, rackB, "NCCL cannot use IMEX on any node: MNNVL (cliqueSize 16) is available but not working", 2},
		"no IMEX on a node":                    {racks{noIMEX: set("gpu-06")}, check.Failed, "gpu-06", "NCCL cannot use IMEX on gpu-06", 2},
		"a node outside of the fabric":         {racks{noFabric: set("gpu-06")}, check.Failed, "gpu-06", "is in no NVLink domain (ClusterUUID 00000000-0000-0000-0000-000000000000, state 1, want 3)", 0},
		"a variable replaces a node's domain":  {racks{off: set("gpu-06"), setting: "NCCL_MNNVL_CLIQUE_ID set by environment to 5"}, check.Failed, "gpu-06", "every pair with gpu-06 is bad", 0},
		"NCCL reports no fabric":               {racks{fabricless: true}, check.Unobserved, "gpu-01", "NCCL reports the NVLink domain of 0 of 4 GPUs of gpu-01", 0},
		"NCCL reports no clique":               {racks{old: true}, check.Unobserved, "rank 0", "reports no MNNVL clique of 16 ranks", 2},
		"a rack in two cliques":                {racks{clique: map[string]string{"gpu-04": "1"}}, check.Unobserved, "rack r1", "the nodes of rack r1 are in 2 NVLink domains", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j, obs := walkRacks(t, rackGate(t), tt.world)
			ran := 0
			for _, o := range obs {
				if f, err := check.Decode[Figures](o); err == nil && f.Scope == ScopeDomain {
					ran++
				}
			}
			if j.Verdict != tt.verdict || ran != tt.domains {
				t.Fatalf("%s (%s), want %s; %d runs by domain, want %d; %+v", j.Verdict, j.Reason, tt.verdict, ran, tt.domains, j.Findings)
			}
			if tt.verdict == check.Passed {
				for _, want := range []string{rackA + " 85", rackB + " 85"} {
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

// A domain of one node shows nothing of NVLink between nodes, however fast it is, and more domains than the nodes
// fill may be a rack that is split: only racks of the inventory show that they are not.
func TestSizesOfDomains(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world racks
		rack  func(i int) string
		size  float64
		left  int
		want  []string // of the findings; none: passed
	}{
		"two whole racks": {rack: func(i int) string { return fmt.Sprintf("r%d", i/traysInARack) }},
		"one node alone, without racks": {world: racks{clique: map[string]string{"gpu-04": "1"}}, rack: func(int) string { return "" },
			want: []string{".1 has one node, gpu-04", "in 3 NVLink domains and fill 1"}},
		"one node alone, a rack of its own": {world: racks{clique: map[string]string{"gpu-04": "1"}}, rack: func(i int) string { return fmt.Sprintf("r%d", (i+1)/traysInARack*traysInARack+max(i-2, 0)/2) },
			want: []string{".1 has one node, gpu-04"}},
		"two halves of a rack, without racks":   {rack: func(int) string { return "" }, want: []string{"in 2 NVLink domains and fill 1"}},
		"two halves of a rack, one node's rack": {rack: func(i int) string { return []string{"", "r1"}[min(i, 1)] }, want: []string{"rack r1 are in 2 NVLink domains", "in 2 NVLink domains and fill 1"}},
		"nodes that are left out fill domains":  {rack: func(int) string { return "" }, left: 11},
		"more nodes than a domain has": {rack: func(i int) string { return fmt.Sprintf("r%d", i/traysInARack) }, size: 3,
			want: []string{rackA + " has 4 nodes, expected at most 3", rackB + " has 4 nodes, expected at most 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := rackGate(t)
			for i := range g.site.Inventory.Nodes {
				g.site.Inventory.Nodes[i].Rack = tt.rack(i)
			}
			for range tt.left {
				g.site.Inventory.LeftOut = append(g.site.Inventory.LeftOut, "other")
			}
			_, obs := walkRacks(t, g, tt.world)
			if tt.size > 0 { // the judge's alone: it has no part in the limits
				g.profile.Node.NVLinkDomain.Value = tt.size
				defer func() { g.profile.Node.NVLinkDomain.Value = 18 }()
			}
			var found []string
			for _, j := range slices.Concat(g.judgeDomains(obs).problems, g.judgeDomains(obs).runs) {
				for _, f := range j.Findings {
					if j.Verdict == check.Unobserved {
						found = append(found, f.Message)
					}
				}
			}
			if len(found) != len(tt.want) {
				t.Fatalf("%q, want %q", found, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(found[i], want) {
					t.Errorf("%q, want %q", found[i], want)
				}
			}
		})
	}
}

// A job over a domain that did not run is reported, and the other collectives of the domain are not run.
func TestDomainThatDoesNotRun(t *testing.T) {
	t.Parallel()
	j, obs := walkRacks(t, rackGate(t, profile.AllGather), racks{unplaced: true})
	of := 0
	for _, o := range obs {
		if strings.HasPrefix(o.Target, rackA) {
			of++
		}
	}
	if j.Verdict == check.Passed || of != 1 {
		t.Errorf("%s: %s; %d jobs over %s", j.Verdict, j.Reason, of, rackA)
	}
}

// A domain that another collective names is named before the cluster, which the run over all nodes names.
func TestADomainIsNamedBeforeTheCluster(t *testing.T) {
	t.Parallel()
	j, _ := walkRacks(t, rackGate(t, profile.AllToAll), racks{cluster: cluster{only: "alltoall_perf", slow: slower(secondRack(), 0.2)}})
	if f := j.Findings; j.Verdict != check.Failed || f[0].Suspect != rackB || !slices.ContainsFunc(f, func(f check.Finding) bool { return f.Suspect == "cluster (all-to-all)" }) {
		t.Errorf("%s: %+v", j.Verdict, f)
	}
}

// Pairs of one domain localise its failure and not that of the run over all nodes.
func TestPairsAreOfTheirDomain(t *testing.T) {
	t.Parallel()
	j, _ := walkRacks(t, rackGate(t), racks{cluster: cluster{slowPair: []string{"gpu-06", "gpu-08"}}})
	n := 0
	for _, f := range j.Findings {
		if f.Suspect == "gpu-06<->gpu-08" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d findings name the path: %+v", n, j.Findings)
	}
}

// A domain of all nodes is localised by pairs, also where it is fast by itself.
func TestOneDomainIsLocalisedByPairs(t *testing.T) {
	t.Parallel()
	g := rackGate(t)
	g.site.Inventory.Nodes = g.site.Inventory.Nodes[:traysInARack]
	_, obs := walkRacks(t, g, racks{cluster: cluster{factor: 0.5}, across: true})
	if !slices.ContainsFunc(obs, func(o check.Observation) bool { return strings.Contains(o.Target, "+") }) {
		t.Errorf("no pair was run: %d observations", len(obs))
	}
}

// The variables that replace a domain are in the log whatever the image says of NCCL_DEBUG_SUBSYS.
func TestSubsystemsOfDomains(t *testing.T) {
	t.Parallel()
	for _, by := range []bool{true, false} {
		g := rackGate(t)
		g.site.Workloads.Collective.ByNVLinkDomain = by
		spec, err := g.spec(g.all(tests[0]))
		if err != nil {
			t.Fatal(err)
		}
		if _, set := spec.Env["NCCL_DEBUG_SUBSYS"]; set != by {
			t.Errorf("by domain %t: %v", by, spec.Env)
		}
		g.site.Slurm = &site.Slurm{}
		srun := NewSrun(g.site, g.profile, nil, "r")
		if slices.Contains(srun.argv(g.all(tests[0])), "NCCL_DEBUG_SUBSYS=INIT,BOOTSTRAP,ENV") != by {
			t.Errorf("by domain %t: %q", by, srun.argv(g.all(tests[0])))
		}
	}
}

// The defaults of the variables that replace a domain replace none.
func TestDefaultsReplaceNoDomain(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]bool{"NCCL_MNNVL_UUID=-1": false, "NCCL_MNNVL_CLIQUE_ID=-1": false, "NCCL_MNNVL_ENABLE=1": false, "NCCL_MNNVL_CLIQUE_ID=-2": true, "NCCL_MNNVL_UUID=0": true} {
		var b check.Builder
		f := Figures{NCCL: nccl.Log{Hosts: []nccl.Host{{Name: "gpu-01", Settings: []string{set}}}}}
		if got := len(forgedDomains(&b, "", f)) > 0; got != want || b.Clean() == want {
			t.Errorf("%s: replaced %t, want %t", set, got, want)
		}
	}
}

// Evidence whose profile was changed is not judged by domain.
func TestDomainsNeedNVLinkBetweenNodes(t *testing.T) {
	t.Parallel()
	g := rackGate(t)
	_, obs := walkRacks(t, g, racks{})
	g.profile.Node.NVLinkDomain = nil
	if j := g.judgeDomains(obs); len(j.runs) > 0 || len(j.problems) != 1 || j.problems[0].Verdict != check.Unobserved {
		t.Errorf("%+v", j)
	}
}

// Where a node has no domain, none is run, and pairs of all nodes localise the failure.
func TestWithoutTheDomainOfANodeNoneIsRun(t *testing.T) {
	t.Parallel()
	_, obs := walkRacks(t, rackGate(t), racks{noFabric: set("gpu-06")})
	if !slices.ContainsFunc(obs, func(o check.Observation) bool {
		return strings.HasPrefix(o.Target, "gpu-06+") || strings.HasSuffix(o.Target, "+gpu-06")
	}) {
		t.Errorf("no pair of gpu-06 was run: %d observations", len(obs))
	}
}

// The network between domains is the suspect only if several domains are fast and the run over all nodes is slow.
func TestSuspectOfFastDomains(t *testing.T) {
	t.Parallel()
	slow := check.Judgement{Verdict: check.Failed, Findings: []check.Finding{{Suspect: "cluster", Message: "slow", Remedy: remedySlow}}}
	wrong := check.Judgement{Verdict: check.Failed, Findings: []check.Finding{{Suspect: "cluster", Message: "wrong values", Remedy: "x"}}}
	fast, bad := check.Judgement{Verdict: check.Passed}, check.Judgement{Verdict: check.Failed, Reason: "bad", Findings: []check.Finding{{Suspect: rackA, Message: "bad"}}}
	unknown := check.NotObserved("not run", check.Finding{Suspect: rackB, Message: "not run"})
	problem := check.NotObserved("alone", check.Finding{Suspect: rackA, Message: "one node"})
	of := func(domains int, runs ...check.Judgement) judgedDomains {
		return judgedDomains{domains: domains, runs: runs}
	}
	for name, tt := range map[string]struct {
		all     check.Judgement
		domains judgedDomains
		want    string // messages
	}{
		"two fast ones":               {slow, of(2, fast, fast), "slow; each NVLink domain alone is fast: suspect the network between them"},
		"two, with two collectives":   {slow, of(2, fast, fast, fast, fast), "slow; each NVLink domain alone is fast: suspect the network between them"},
		"one is the whole cluster":    {slow, of(1, fast), "slow"},
		"one, with two collectives":   {slow, of(1, fast, fast), "slow"},
		"not for wrong data":          {wrong, of(2, fast, fast), "wrong values"},
		"one without a result":        {slow, of(2, fast, unknown), "slow; 1 of 2 runs by NVLink domain have no result|not run"},
		"a bad one comes first":       {slow, of(2, fast, bad), "bad|slow"},
		"a bad one, and one no run":   {slow, of(2, bad, unknown), "bad|slow|not run"},
		"none was run":                {slow, of(2, unknown, unknown), "slow"},
		"a problem is not a run":      {slow, judgedDomains{domains: 2, problems: []check.Judgement{problem}, runs: []check.Judgement{fast, fast}}, "slow; each NVLink domain alone is fast: suspect the network between them|one node"},
		"a problem, and none was run": {slow, judgedDomains{problems: []check.Judgement{problem}}, "slow|one node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := tt.all
			all.Findings = slices.Clone(all.Findings)
			var got []string
			for _, f := range tt.domains.explain(all).Findings {
				got = append(got, f.Message)
			}
			if text := strings.Join(got, "|"); text != tt.want {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}

// The other collectives run in each domain, with limits of their own; after a failed all-reduce of a domain its
// others do not.
func TestSuiteOfDomains(t *testing.T) {
	t.Parallel()
	targets := func(obs []check.Observation, of string) (n int) {
		for _, o := range obs {
			if strings.HasPrefix(o.Target, of) {
				n++
			}
		}
		return n
	}
	j, obs := walkRacks(t, rackGate(t, profile.CollectiveNames()...), racks{})
	if j.Verdict != check.Passed || targets(obs, rackA) != 5 || targets(obs, rackB) != 5 || len(obs) != 15 {
		t.Fatalf("%s: %s; %d observations", j.Verdict, j.Reason, len(obs))
	}
	for _, name := range []string{"busbw of all-reduce of " + rackA, "busbw of all-gather of " + rackB, "busbw of sendrecv of " + rackB} {
		i := slices.IndexFunc(j.Figures, func(f check.Figure) bool { return f.Name == name })
		if i < 0 || j.Figures[i].Value < j.Figures[i].Limit || j.Figures[i].Limit <= 0 || j.Figures[i].Source == "" {
			t.Errorf("no figure %q with a limit: %+v", name, j.Figures)
		}
	}
	j, obs = walkRacks(t, rackGate(t, profile.CollectiveNames()...), racks{off: secondRack(), domainsOnly: true})
	if j.Verdict != check.Failed || targets(obs, rackA) != 5 || targets(obs, rackB) != 1 {
		t.Errorf("%s: %s; %d and %d observations", j.Verdict, j.Reason, targets(obs, rackA), targets(obs, rackB))
	}
	j, _ = walkRacks(t, rackGate(t, profile.AllToAll), racks{cluster: cluster{only: "alltoall_perf", slow: slower(secondRack(), 0.85)}, domainsOnly: true})
	if f := j.Findings; j.Verdict != check.Failed || f[0].Suspect != rackB || !strings.Contains(f[0].Message, rackB+", all-to-all (gpu-05") {
		t.Errorf("%s: %+v", j.Verdict, f)
	}
}

// A run by domain that was not observed exactly once, or over fewer nodes or GPUs than the domain has, is not passed.
func TestDomainsAreExact(t *testing.T) {
	t.Parallel()
	g := rackGate(t, profile.AllGather)
	_, whole := walkRacks(t, g, racks{})
	for i, o := range whole {
		without := slices.Delete(slices.Clone(whole), i, i+1)
		if j := plan.Judge(g, without); j.Verdict != check.Unobserved {
			t.Errorf("without %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
		if j := plan.Judge(g, append(without, o, o)); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "observed 2 times") {
			t.Errorf("twice %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
		failed := o
		failed.Err = "not placed"
		if j := plan.Judge(g, append(without, failed)); j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "did not run") {
			t.Errorf("failed %s: %s: %s", o.Target, j.Verdict, j.Reason)
		}
	}
	g.site.Workloads.Collective.ByNVLinkDomain = false
	if j := plan.Judge(g, whole); j.Verdict != check.Passed || strings.Contains(j.Reason, "NVLink domain") {
		t.Errorf("without the key: %s: %s", j.Verdict, j.Reason)
	}
}

// TestDomainRules covers the requirements on a run by domain, one field at a time.
func TestDomainRules(t *testing.T) {
	t.Parallel()
	g := rackGate(t)
	_, obs := walkRacks(t, g, racks{})
	const inB, all = KindRun + "@" + rackB, KindRun + "@all nodes"
	launcher := "pod firstlight-test/" + g.domainJob(tests[0], domain{id: strings.TrimPrefix(rackB, "NVLink domain "), nodes: g.nodes()[4:]}).name() + "-0-abcde"
	warning := checktest.Set(inB, ".nccl.warnings", []nccl.Warning{{
		Host: strings.TrimSuffix(strings.TrimPrefix(launcher, "pod firstlight-test/"), "-abcde"), Text: "MNNVL (cliqueSize 16) is available but not working on this system."}})
	bandwidth := func(each float64) []checktest.Change {
		return []checktest.Change{checktest.Set(inB, ".runs[*].rows[*].outOfPlace.busbwGBps", each), checktest.Set(inB, ".runs[*].rows[*].inPlace.busbwGBps", each)}
	}
	checktest.Rules(t, func(obs []check.Observation) check.Judgement { return plan.Judge(g, obs) }, obs, []checktest.Rule{
		checktest.When("a domain needs the figure of its own nodes", bandwidth(811.43)...).Fails(rackB, "expected at least 811.44: 92 % of the 882 GB/s of 4 nodes; above the 250 GB/s that the network can give"),
		checktest.When("a bandwidth that the network can give is a sign of a fallback", bandwidth(250)...).Fails(rackB, "the network between these nodes can give 250 GB/s: suspect that NCCL fell back to it"),
		checktest.When("a bandwidth above the network's is not", bandwidth(250.01)...).Fails(rackB, "above the 250 GB/s that the network can give"),
		checktest.When("a node of the domain must take part", checktest.Set(inB, ".nodes[last]", checktest.LeftOut)).Fails("gpu-08", "ranks ran on gpu-08"),
		checktest.When("a node of another domain must not", checktest.Set(inB, ".nodes[last]", "gpu-01")).Fails("gpu-08", "ranks ran on gpu-08"),
		checktest.When("a run of another domain is not that of this one", checktest.Set(inB, ".domain", "x.1")).Unobserved(rackB, rackB+" was not observed"),
		checktest.When("repetitions are those of the profile", checktest.Set(inB, ".repetitions", 2), checktest.Set(inB, ".runs[0]", checktest.LeftOut)).Unobserved("inventory", "ran 2 repetitions"),
		checktest.When("one channel over the network is a fallback", checktest.Set(inB, ".nccl.channels[0].transport", "NET/IB")).Fails(rackB, "fell back to the network; 3 channel ends between nodes run over NET/IB"),
		checktest.When("one rank without NVLink between nodes is its node's", checktest.Set(inB, ".nccl.ranks[4].mnnvl", false)).Fails("gpu-06", "NCCL does not use NVLink between gpu-06 and the other nodes"),
		checktest.When("a clique of a part of the ranks is a fallback", checktest.Set(inB, ".nccl.ranks[*].cliqueSize", 15)).Fails(rackB, "fell back to the network"),
		checktest.When("a rank that reports no clique shows nothing", checktest.Set(inB, ".nccl.ranks[15].cliqueSize", checktest.LeftOut)).Unobserved("rank 15", "reports no MNNVL clique of 16 ranks"),
		checktest.When("a rank that reports no use of it shows nothing", checktest.Set(inB, ".nccl.ranks[3].mnnvl", checktest.LeftOut)).Unobserved("rank 3", "reports no MNNVL clique"),
		checktest.When("the domain is that of the run over all nodes", checktest.Set(inB, ".nccl.ranks[*].fabrics[0].cliqueID", "1")).Fails("gpu-05, gpu-06, gpu-07, gpu-08", "the GPUs of gpu-05, gpu-06, gpu-07, gpu-08 are in NVLink domain 4963e406-e1f5-4a7a-a19a-7d1bd763fec4.1"),
		checktest.When("a GPU that has lost the fabric is its node's", checktest.Set(inB, ".nccl.ranks[0].fabrics[0].state", 1)).Fails("gpu-05", "a GPU of gpu-05 is in no NVLink domain"),
		checktest.When("each repetition must report the clique", checktest.Set(inB, ".nccl.ranks[15].cliques", 2)).Unobserved("rank 15", "in every repetition"),
		checktest.When("a variable may replace the domain of the GPUs", checktest.Set(all, ".nccl.hosts[2].settings", []string{"NCCL_MNNVL_CLIQUE_ID=1"})).Unobserved("gpu-03", "NCCL_MNNVL_CLIQUE_ID=1 is set on gpu-03"),
		checktest.When("its UUID, too", checktest.Set(inB, ".nccl.hosts[2].settings", []string{"NCCL_MNNVL_UUID=7"})).Unobserved("gpu-07", "NCCL_MNNVL_UUID=7 is set on gpu-07"),
		checktest.When("one rank twice is not two GPUs", checktest.Set(all, ".nccl.ranks[8].rank", 9)).Unobserved("gpu-03", "of 3 of 4 GPUs of gpu-03"),
		checktest.When("a run over one rail is not that of the domain", checktest.Set(inB, ".rail", "mlx5_0")).Unobserved(rackB, "want a domain of the run over all nodes, and all rails"),
		checktest.When("a domain that is not in the run over all nodes is not left out", checktest.Set(inB, ".domain", "x.1")).Unobserved(rackB, "want a domain of the run over all nodes"),
		checktest.When("a GPU without a rank may be that of another one", checktest.Set(all, ".nccl.ranks[8].rank", -1)).Unobserved("gpu-03", "of 3 of 4 GPUs of gpu-03"),
		checktest.When("nodes that were ended before the test of IMEX may have none", checktest.Set(inB, ".nccl.ranks[15].cliques", 0), checktest.Set(inB, ".nccl.ranks[15].inits", 0), warning).Fails(rackB, "NCCL cannot use IMEX on at least 1 nodes"),
		checktest.When("nodes that passed it have", warning).Fails("gpu-05", "NCCL cannot use IMEX on gpu-05"),
		checktest.When("warnings that were cut off may be of all nodes", checktest.Set(inB, ".nccl.clipped", true), warning).Fails(rackB, "NCCL cannot use IMEX on at least 1 nodes"),
		checktest.When("NCCL must speak", checktest.Set(inB, ".nccl.lines", 0)).Unobserved(launcher, "no output of NCCL"),
		checktest.When("a log that was cut off hides ranks", checktest.Set(inB, ".nccl.clipped", true)).Unobserved(launcher, "exceeds the size limit"),
		checktest.When("a GPU that has not joined the fabric has no domain", checktest.Set(all, ".nccl.ranks[8].fabrics[0].state", 2)).Fails("gpu-03", "is in no NVLink domain"),
		checktest.When("a UUID of zeros is not a domain", checktest.Set(all, ".nccl.ranks[8].fabrics[0].clusterUUID", "00000000-0000-0000-0000-000000000000")).Fails("gpu-03", "is in no NVLink domain"),
		checktest.When("GPUs of a node are in one domain", checktest.Set(all, ".nccl.ranks[8].fabrics[0].cliqueID", "1")).Fails("gpu-03", "the GPUs of gpu-03 are in 2 NVLink domains"),
		checktest.When("every GPU must report its domain", checktest.Set(all, ".nccl.ranks[8].fabrics", checktest.LeftOut)).Unobserved("gpu-03", "NCCL reports the NVLink domain of 3 of 4 GPUs"),
	})
}

// Every field of a run by domain is demanded, or this list states why not.
func TestEveryFieldOfADomain(t *testing.T) {
	t.Parallel()
	g := rackGate(t)
	g.site.Inventory.Nodes = g.site.Inventory.Nodes[:2]
	_, obs := walkRacks(t, g, racks{})
	i := slices.IndexFunc(obs, func(o check.Observation) bool { return o.Target == rackA })
	rest := slices.Delete(slices.Clone(obs), i, i+1)
	judge := func(of []check.Observation) check.Judgement {
		return plan.Judge(g, append(slices.Clone(rest), of...))
	}
	checktest.EveryField(t, "spoilt-domain", judge, obs[i:i+1], harmless(checktest.Harmless{
		"adapters are those of the run over all nodes; here they are not in use": {`.* .nccl.hosts.*`, `.* .nccl.ranks.ringGDR: flipped`},
		"a run by NVLink multicast has none, and every rank reports its clique":  {`.* .nccl.channels: .*`},
		"said twice is not more": {`.* .nccl.ranks.fabrics: the first twice`},
		"every run has reported": {`.* .nccl.ranks.cliques: (1 more|x1000)`},
	}), checktest.Sample(8))
}

// NCCL that reduces by NVLink multicast alone connects no rings and trees: in one rack no node shows a channel to another.
func TestOneDomain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		world    racks
		byDomain bool
		verdict  check.Verdict
		message  string
	}{
		"multicast alone":                        {racks{noChannels: true}, false, check.Passed, ""},
		"multicast alone, by domain":             {racks{noChannels: true}, true, check.Passed, ""},
		"a node falls back":                      {racks{noChannels: true, off: set("gpu-02")}, false, check.Failed, "busbw at"},
		"a node falls back, by domain":           {racks{noChannels: true, off: set("gpu-02")}, true, check.Failed, "every pair with gpu-02 is bad"},
		"no cliques and no channels":             {racks{noChannels: true, old: true}, false, check.Unobserved, "no channel in both directions between gpu-01 and other nodes"},
		"channels by NVLink, as in other suites": {racks{}, false, check.Passed, ""},
	} {
		g := rackGate(t)
		g.site.Inventory.Nodes = g.site.Inventory.Nodes[:traysInARack]
		g.site.Workloads.Collective.ByNVLinkDomain = tt.byDomain
		j, _ := walkRacks(t, g, tt.world)
		if j.Verdict != tt.verdict || !strings.Contains(fmt.Sprint(j.Findings), tt.message) {
			t.Errorf("%s: %s (%s), want %s: %+v", name, j.Verdict, j.Reason, tt.verdict, j.Findings)
		}
	}
}
