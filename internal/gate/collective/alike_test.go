package collective

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective/sequential"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/workload"
)

// slowAcross runs jobs on racks: NVLink does not connect a pair of nodes of two racks.
func slowAcross(r racks) func(context.Context, *workload.Launcher, workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
	return func(ctx context.Context, l *workload.Launcher, spec workload.Spec) (gangjob.Outcome, []gangjob.Log, error) {
		r := r
		if n := spec.Nodes; len(n) == 2 && (n[0] > "gpu-04") != (n[1] > "gpu-04") {
			r.off = set(n...)
		}
		return r.fake(ctx, l, spec)
	}
}

// Nodes are compared within their NVLink domain: a pair of two racks has the bandwidth of the network,
// whatever its nodes.
func TestDriftComparesNodesOfOneDomain(t *testing.T) {
	t.Parallel()
	const four, unknown = "gpu-01, gpu-02, gpu-03, gpu-04", "the NVLink domains of the nodes are unknown"
	noRack := func(int) string { return "" }
	oneWithout := func(i int) string { return []string{"r1", "", "r1", "r1"}[i] }
	slowOne := racks{fabricless: true, cluster: cluster{slow: map[string]float64{"gpu-02": 0.96}}}
	for name, tt := range map[string]struct {
		world    racks
		byDomain bool
		rack     func(i int) string // nil: four nodes in each rack
		verdict  check.Verdict
		suspects []string
		message  string
		nodes    int // 0: eight
		domain   int // node.nvlinkDomain; 0: that of the profile, 18
	}{
		"healthy":             {racks{}, true, nil, check.Passed, nil, "", 0, 0},
		"healthy, by rack":    {racks{fabricless: true}, false, nil, check.Passed, nil, "", 0, 0},
		"a node 4 % slower":   {racks{cluster: cluster{slow: map[string]float64{"gpu-06": 0.96}}}, true, nil, check.Failed, []string{"gpu-06"}, "warn: busbw of pairs with gpu-06 is 4.0 % below", 0, 0},
		"no domains, no rack": {racks{fabricless: true}, false, noRack, check.Unobserved, []string{four + ", gpu-05, gpu-06, gpu-07, gpu-08"}, unknown, 0, 4},
		// Regression: four nodes of one rack, which the inventory does not name, were never compared.
		"four nodes, no domains, no rack":                      {racks{fabricless: true}, false, noRack, check.Passed, nil, "", 4, 0},
		"four nodes, no domains, no rack, one slower":          {slowOne, false, noRack, check.Failed, []string{"gpu-02"}, "warn: busbw of pairs with gpu-02 is 4.0 % below", 4, 0},
		"four nodes, no domains, no rack, of domains of three": {racks{fabricless: true}, false, noRack, check.Unobserved, []string{four}, unknown, 4, 3},
		"four nodes, no domains, one without a rack":           {racks{fabricless: true}, false, oneWithout, check.Unobserved, []string{four}, unknown, 4, 0},
		"a small domain": {racks{fabricless: true}, false, func(i int) string { return fmt.Sprintf("r%d", i/6) }, check.Unobserved, []string{"gpu-07, gpu-08"}, "rack r1 has 2 nodes", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Drift{Gate: rackGate(t), ReplaceAt: 0.05}
			d.site.Workloads.Collective.ByNVLinkDomain = tt.byDomain
			if tt.nodes > 0 {
				d.site.Inventory.Nodes = d.site.Inventory.Nodes[:tt.nodes]
			}
			if tt.domain > 0 {
				d.profile.Node.NVLinkDomain.Value = float64(tt.domain)
			}
			for i := range d.site.Inventory.Nodes {
				if tt.rack != nil {
					d.site.Inventory.Nodes[i].Rack = tt.rack(i)
				}
			}
			d.run = slowAcross(tt.world)
			if name == "a small domain" { // its six nodes are of one domain
				d.run = tt.world.fake
			}
			d.launcher = func(context.Context) (*workload.Launcher, error) { return nil, nil }
			rec := &recorder{}
			if err := d.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			j := d.Judge(rec.obs)
			var suspects []string
			for _, f := range j.Findings {
				suspects = append(suspects, f.Suspect)
			}
			if diff := cmp.Diff(tt.suspects, suspects); diff != "" || j.Verdict != tt.verdict {
				t.Fatalf("%s: %s: %s", j.Verdict, j.Reason, diff)
			}
			if tt.message != "" && !strings.HasPrefix(j.Findings[0].Message, tt.message) {
				t.Errorf("%q", j.Findings[0].Message)
			}
			for _, f := range j.Figures {
				if strings.HasPrefix(f.Name, "busbw of pairs") && (f.Value < 800 || !strings.HasSuffix(f.Name, rackA) && !strings.HasSuffix(f.Name, rackB) && tt.byDomain) {
					t.Errorf("%s is %g", f.Name, f.Value)
				}
			}
		})
	}
}

// 36 healthy nodes of two racks, with 2 % noise: none is named and none is in doubt, in 200 runs. Compared
// with all nodes of the cluster, up to 19 healthy ones are named in 6 of 20 runs.
func TestHealthyRacksRaiseNothing(t *testing.T) {
	t.Parallel()
	var nodes []string
	for i := range 36 {
		nodes = append(nodes, fmt.Sprintf("gpu-%02d", i+1))
	}
	solve := func(rng *rand.Rand, of []alike) (named, undecided int) {
		var samples []sequential.Sample
		for {
			var pairs [][]string
			named, undecided = 0, 0
			for _, a := range of {
				step := sequential.Next(a.nodes, within(a.nodes, samples))
				pairs, named, undecided = append(pairs, step.Round...), named+len(step.Slow), undecided+len(step.Undecided)
			}
			if len(pairs) == 0 {
				return named, undecided
			}
			for _, p := range pairs {
				busbw := 850.0 // GB/s by NVLink
				if slices.Index(nodes, p[0])/18 != slices.Index(nodes, p[1])/18 {
					busbw = 191 // by the network
				}
				sample := sequential.Sample{Nodes: [2]string{p[0], p[1]}}
				for range 3 {
					sample.Busbw = append(sample.Busbw, busbw*(1+0.02*rng.NormFloat64()))
				}
				samples = append(samples, sample)
			}
		}
	}
	for seed := range uint64(200) {
		if named, undecided := solve(rand.New(rand.NewPCG(seed, 2)), []alike{{"rack 1", nodes[:18]}, {"rack 2", nodes[18:]}}); named+undecided > 0 {
			t.Errorf("seed %d: %d nodes are named, %d undecided", seed, named, undecided)
		}
	}
	runs := 0
	for seed := range uint64(20) {
		if named, _ := solve(rand.New(rand.NewPCG(seed, 2)), []alike{{"", nodes}}); named > 0 {
			runs++
		}
	}
	if runs < 3 {
		t.Errorf("pairs of two racks name healthy nodes in %d of 20 runs: this test shows nothing", runs)
	}
}
