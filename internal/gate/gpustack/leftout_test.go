package gpustack

import (
	"testing"

	"github.com/firstlight/firstlight/internal/check"
)

// The counts of a DaemonSet include the pods of a node that is left out, which need not be ready.
func TestOperandCountsWithANodeLeftOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		leftOut        []string
		desired, ready int
		want           check.Verdict
	}{
		"all ready":                    {[]string{"gpu-05"}, 5, 5, check.Passed},
		"that of the node is not":      {[]string{"gpu-05"}, 5, 4, check.Passed},
		"the node has left":            {[]string{"gpu-05"}, 4, 4, check.Passed},
		"a node of no inventory":       {[]string{"gpu-05"}, 6, 6, check.Failed},
		"no node is left out":          {nil, 5, 5, check.Failed},
		"no node is left out, healthy": {nil, 4, 4, check.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			g.site.Inventory.LeftOut = tt.leftOut
			f := healthy(g)
			f.operands[0].Desired, f.operands[0].Ready, f.operands[0].Updated = tt.desired, tt.ready, tt.ready
			if j := g.Judge(f.observations(t)); j.Verdict != tt.want {
				t.Errorf("%s, want %s: %+v", j.Verdict, tt.want, j.Findings)
			}
		})
	}
}
