package collective

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
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
	for name, tt := range map[string]struct {
		world    racks
		byDomain bool
		rack     func(i int) string // nil: four nodes in each rack
		verdict  check.Verdict
		suspects []string
		message  string
	}{
		"healthy":             {racks{}, true, nil, check.Passed, nil, ""},
		"healthy, by rack":    {racks{fabricless: true}, false, nil, check.Passed, nil, ""},
		"a node 4 % slower":   {racks{cluster: cluster{slow: map[string]float64{"gpu-06": 0.96}}}, true, nil, check.Failed, []string{"gpu-06"}, "warn: busbw of pairs with gpu-06 is 4.0 % below"},
		"no domains, no rack": {racks{fabricless: true}, false, func(int) string { return "" }, check.Unobserved, []string{"gpu-01, gpu-02, gpu-03, gpu-04, gpu-05, gpu-06, gpu-07, gpu-08"}, "the NVLink domains of the nodes are unknown"},
		"a small domain":      {racks{fabricless: true}, false, func(i int) string { return fmt.Sprintf("r%d", i/6) }, check.Unobserved, []string{"gpu-07, gpu-08"}, "rack r1 has 2 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Drift{Gate: rackGate(t), ReplaceAt: 0.05}
			d.site.Workloads.Collective.ByNVLinkDomain = tt.byDomain
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
